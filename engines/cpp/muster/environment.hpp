// Reads the environment variables that the deployment service, or whoever starts the process, sets for a game server.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "json.hpp"

#if defined(_WIN32)
#include <process.h>
#elif defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
extern char** environ;
#endif

namespace muster {

/** The variables of this process: an object of texts. Empty where a platform does not list them. */
inline Json process_environment() {
  Json made = Json::object();
#if defined(_WIN32)
  char** next = _environ;
#elif defined(__unix__) || defined(__APPLE__)
  char** next = environ;
#else
  char** next = nullptr;
#endif
  for (; next != nullptr && *next != nullptr; next++) {
    const std::string_view line = *next;
    const std::size_t end = line.find('=');
    if (end != std::string_view::npos) made.set(line.substr(0, end), line.substr(end + 1));
  }
  return made;
}

/**
 * The prefix of the variables that the deployment service sets: MUSTER_SERVICE_PREFIX where it is set, otherwise the
 * known one whose variable _REQUEST_ID is there, otherwise SERVICE.
 */
inline std::string service_prefix_in(const Json& environment) {
  const std::string& set = environment["MUSTER_SERVICE_PREFIX"].text();
  if (!set.empty()) return set;
  for (const char* known : {"SERVICE", "ARBITRIUM"})
    if (!environment[std::string(known) + "_REQUEST_ID"].text().empty()) return known;
  return "SERVICE";
}

namespace detail {

/**
 * The request id of the deployment in which this process runs: SERVICE_REQUEST_ID, otherwise that in the path of
 * SERVICE_DELETE_URL, where an access point's id comes after it. Empty outside of a deployment.
 */
inline std::string deployment_in(const Json& environment) {
  const std::string prefix = service_prefix_in(environment), before_id = "/self/stop/";
  const std::string& id = environment[prefix + "_REQUEST_ID"].text();
  if (!id.empty()) return id;
  const std::string& url = environment[prefix + "_DELETE_URL"].text();
  const std::size_t before = url.rfind(before_id);
  if (before == std::string::npos) return "";
  const std::size_t from = before + before_id.size(), to = url.find('/', from);
  return to == std::string::npos ? "" : url.substr(from, to - from);
}

/** A port of JSON, or the digits of a variable; null if it is none. */
inline Json port_of(const Json& given) {
  double port = given.number();
  if (given.is_text()) {
    const std::string& text = given.text();
    const bool is_whole = text.find_first_not_of("0123456789") == std::string::npos;
    port = is_whole && !text.empty() && text.size() <= 5 ? std::atof(text.c_str()) : -1;
  } else if (!given.is_number()) {
    port = -1;
  }
  return port >= 0 && port <= 65535 && port == std::floor(port) ? Json(port) : Json();
}

inline Json port_with(const Json& internal, const Json& external, const Json& protocol) {
  return Json::object({{"internal", internal},
                       {"external", external.is_null() ? internal : external},
                       {"protocol", protocol.is_text() ? protocol : Json("UDP")}});
}

/** Whether the process adds itself to a pool by a key: Muster has not started it. */
inline bool enrols_in(const Json& environment) { return !environment["MUSTER_ENROL_KEY"].text().empty(); }

/** May surround a port in MUSTER_SERVER_PORTS, e.g. the line break of a file. */
inline constexpr char spaces[] = " \t\r\n\v\f";

/** A port of MUSTER_SERVER_PORTS, such as `game=7777/udp`: its name, and itself; null if it has another form. */
inline std::pair<std::string, Json> listed_port(const std::string& given) {
  const auto is_word = [](char one) {
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') || one == '_';
  };
  // Empty texts are omitted, so both are found.
  const std::size_t from = given.find_first_not_of(spaces);
  const std::string text = given.substr(from, given.find_last_not_of(spaces) + 1 - from);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", Json()};
  const std::string name = text.substr(0, equals);
  for (const char one : name)
    if (!is_word(one) && one != '-') return {"", Json()};
  const std::size_t slash = text.find('/', equals);
  const Json port = port_of(Json(text.substr(equals + 1, slash - equals - 1)));
  std::string protocol = slash == std::string::npos ? "udp" : text.substr(slash + 1);
  for (char& one : protocol) {
    if (!is_word(one) && one != '/') return {"", Json()};
    if (one >= 'a' && one <= 'z') one = static_cast<char>(one - 'a' + 'A');
  }
  if (name.empty() || name.size() > 64 || protocol.empty() || !(port.number() > 0)) return {"", Json()};
  return {name, port_with(port, port, Json(protocol))};
}

inline std::string fault_of_port(const std::string& text) {
  return "MUSTER_SERVER_PORTS: must be such as game=7777/udp, got " + Json(text).dump();
}

/** The ports of MUSTER_SERVER_PORTS by name. @param fault is what has another form, and is left out */
inline Json listed_ports_in(const Json& environment, std::string* fault = nullptr) {
  const std::string& all = environment["MUSTER_SERVER_PORTS"].text();
  Json ports = Json::object();
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t to = std::min(all.find(',', from), all.size());
    const std::string text = all.substr(from, to - from);
    from = to + 1;
    if (text.find_first_not_of(spaces) == std::string::npos) continue;
    const auto [name, port] = listed_port(text);
    if (!port.is_null())
      ports.set(name, port);
    else if (fault != nullptr)
      *fault = text;
  }
  return ports;
}

/** The machine and the slot: MUSTER_SERVER_NAME, otherwise host name and first port, or the process id without one. */
inline std::string server_name_in(const Json& environment) {
  const std::string& given = environment["MUSTER_SERVER_NAME"].text();
  if (!given.empty()) return given;
  std::string host = environment["COMPUTERNAME"].text();
  int process = 0;
#if defined(_WIN32)
  process = _getpid();
#elif defined(__unix__) || defined(__APPLE__)
  process = static_cast<int>(getpid());
  char name[256] = "";
  if (host.empty() && gethostname(name, sizeof name - 1) == 0) host = name;
#endif
  const Json ports = listed_ports_in(environment);
  const auto& members = ports.members();
  const int slot = members.empty() ? process : static_cast<int>(members.begin()->second["external"].number());
  return (host.empty() ? "server" : host) + ":" + std::to_string(slot);
}

}  // namespace detail

/**
 * The ports of the deployment: an object of `internal`, `external` and `protocol` by name. From SERVICE_PORTS_MAPPING;
 * without it, from SERVICE_PORT_{NAME}_INTERNAL, _EXTERNAL and _PROTOCOL, with names in lower case. With
 * MUSTER_ENROL_KEY, those of MUSTER_SERVER_PORTS.
 */
inline Json ports_in(const Json& environment) {
  if (detail::enrols_in(environment)) return detail::listed_ports_in(environment);
  const std::string prefix = service_prefix_in(environment);
  const Json mapping = Json::parse(environment[prefix + "_PORTS_MAPPING"].text()).value_or(Json())["ports"];
  Json ports = Json::object();
  for (const auto& [name, port] : mapping.members()) {
    // In this field, a string does not count as a port.
    const Json internal = port["internal"].is_number() ? detail::port_of(port["internal"]) : Json();
    const Json external = port["external"].is_number() ? detail::port_of(port["external"]) : Json();
    if (!internal.is_null()) ports.set(name, detail::port_with(internal, external, port["protocol"]));
  }
  if (mapping.is_object()) return ports;
  const std::string before = prefix + "_PORT_", after = "_INTERNAL";
  for (const auto& [key, value] : environment.members()) {
    if (key.size() <= before.size() + after.size() || key.compare(0, before.size(), before) != 0) continue;
    if (key.compare(key.size() - after.size(), after.size(), after) != 0) continue;
    std::string name = key.substr(before.size(), key.size() - before.size() - after.size());
    const Json internal = detail::port_of(value);
    const Json external = detail::port_of(environment[before + name + "_EXTERNAL"]);
    const Json& protocol = environment[before + name + "_PROTOCOL"];
    for (char& one : name)
      if (one >= 'A' && one <= 'Z') one = static_cast<char>(one - 'A' + 'a');
    if (!internal.is_null()) ports.set(name, detail::port_with(internal, external, protocol));
  }
  return ports;
}

namespace detail {

/**
 * What a server says of itself when it registers, with its deployment and the ports at which it listens; or with its
 * name and address, where it adds itself to a pool.
 */
inline Json registration_in(const Json& registration, const Json& environment) {
  const Json ports = ports_in(environment);
  Json listening = Json::object(), reached = Json::object();
  for (const auto& [name, port] : ports.members()) {
    listening.set(name, port["internal"]);
    reached.set(name, Json::object({{"port", port["external"]}, {"protocol", port["protocol"]}}));
  }
  Json made = registration;
  if (enrols_in(environment)) {
    Json address = Json::object({{"ports", reached}});
    if (!environment["MUSTER_SERVER_ADDRESS"].text().empty()) address.set("host", environment["MUSTER_SERVER_ADDRESS"]);
    return made.set("name", server_name_in(environment)).set("address", address);
  }
  const std::string deployment = deployment_in(environment);
  if (!deployment.empty()) made.set("deployment", deployment);
  return listening.members().empty() ? made : made.set("ports", listening);
}

}  // namespace detail

}  // namespace muster
