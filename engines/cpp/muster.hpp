// Muster for C++17, without exceptions and RTTI: a client, and a game server. Bring a transport, or take
// muster/curl_transport.hpp. See README.md.
#pragma once

#include "muster/client.hpp"
#include "muster/game_server.hpp"
