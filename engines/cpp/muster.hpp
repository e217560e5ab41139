#pragma once
#include "muster/json.hpp"
#include "muster/machine.hpp"
