// Reads the parts of Muster's responses that every machine needs, and escapes path segments.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "json.hpp"
#include "shapes.hpp"

namespace muster {

namespace detail {

/** As in a path: everything but letters, digits and a few signs is escaped. */
inline std::string encoded(const std::string& text) {
  static constexpr std::string_view plain = "-_.!~*'()";
  std::string out;
  for (const char one : text) {
    const auto code = static_cast<unsigned char>(one);
    const bool is_plain = (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
                          plain.find(one) != std::string_view::npos;
    char escaped[4] = {one, '\0'};
    if (!is_plain) std::snprintf(escaped, sizeof escaped, "%%%02X", code);
    out += escaped;
  }
  return out;
}

inline std::string whole(double number) { return std::to_string(static_cast<long long>(number)); }

/** The first item of a list that fits; null if there is none. */
template <typename Fits>
const Json* first(const Json& list, const Fits& fits) {
  for (const Json& item : list.items())
    if (fits(item)) return &item;
  return nullptr;
}

/** A text, or null where it is not there. */
inline Json text_or_null(const Json& value) { return value.is_text() ? value : Json(); }

/** Where a player connects, as states show it. */
inline Json assignment_of(const Json& assignment) {
  return Json::object({{"fqdn", assignment["fqdn"]},
                       {"ports", assignment["ports"]},
                       {"joinToken", text_or_null(assignment["join_token"])},
                       {"city", text_or_null(assignment["location"]["city"])}});
}

inline Json body_of(const Json& request) {
  Json body = Json::object({{"profile", request["profile"]}});
  for (const char* name : {"profiles", "attributes", "roles"})
    if (!request[name].is_null()) body.set(name, request[name]);
  return body;
}

/** The body of an answer to a match: a repeated answer must not count for the next match, which nobody has seen. */
inline Json seen_match(const Json& match) {
  return match.is_text() ? Json::object({{"match_id", match}}) : Json();
}

/** A refusal that Muster was not asked for. */
inline Json refusal(double status, const std::string& code, const std::string& message) {
  return Json::object({{"status", status}, {"code", code}, {"message", message}});
}
inline Json nothing_to(const std::string& verb) { return refusal(0, "nothing", "There is nothing to " + verb + "."); }
inline Json superseded() {
  return refusal(0, "superseded", "Another command replaced this one before Muster answered.");
}
inline Json closed() { return refusal(0, "closed", "The client was closed."); }
inline Json busy() { return refusal(409, "player-busy", "The player already has a ticket, group or match."); }
/** Of an answer that says it is good, and is not what Muster answers: it is from a proxy, or from another version. */
inline Json wrong_answer() {
  return refusal(0, "wrong-answer", "The answer is not a valid answer of Muster.");
}
/** The longest pause that an answer may ask for. Without a bound, one wrong header ends the game's search. */
inline constexpr double longest_retry_ms = 3600000;
inline Json too_late() { return refusal(409, "player-playing", "The player has a server already."); }

}  // namespace detail

/** What a refusal says: `status` (0: no answer came), `code`, `message`, and perhaps `field` and `retryAfterMs`. */
inline Json refusal_of(double status, const Json& body, double retry_after_ms) {
  std::string code = body["code"].text();
  if (code.empty()) code = status == 401 ? "unauthorized" : status == 0 ? "offline" : "http-" + detail::whole(status);
  const Json& said = body["detail"].is_text() ? body["detail"] : body["message"];
  Json refusal = Json::object({
      {"status", status},
      {"code", code},
      {"message", said.is_text() ? said.text() : "The answer was " + detail::whole(status) + "."},
  });
  if (body["field"].is_text()) refusal.set("field", body["field"]);
  if (retry_after_ms > 0) refusal.set("retryAfterMs", retry_after_ms);
  return refusal;
}

}  // namespace muster
