#pragma once

#include "muster/machine.hpp"
#include "muster/server_machine.hpp"
