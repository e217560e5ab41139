// The expected types of Muster's responses, limited to the fields that are read.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "json.hpp"

namespace muster {
namespace detail {

struct Field {
  std::string_view shape, name, type;
};

/** The same in every language. A type with `?` may be null or left out; `[]` is a list of it, `{}` an object of it. */
inline constexpr Field fields[] = {
    {"me", "tickets", "ticket[]"}, {"me", "groups", "member[]"}, {"me", "matches", "running[]"},
    {"me", "seats", "seat[]?"},
    {"ticket", "id", "text"}, {"ticket", "profile", "text"}, {"ticket", "status", "text"},
    {"ticket", "version", "count"}, {"ticket", "group_id", "text?"}, {"ticket", "match_id", "text?"},
    {"ticket", "assignment", "assignment?"}, {"ticket", "acceptance", "acceptance?"},
    {"ticket", "cancel_reason", "text?"}, {"ticket", "ended", "ended?"}, {"ticket", "estimated_wait", "wait?"},
    {"assignment", "fqdn", "text"}, {"assignment", "ports", "object{}"}, {"assignment", "location", "place?"},
    {"assignment", "join_token", "text?"},
    {"place", "city", "text?"},
    {"acceptance", "accepted", "boolean"}, {"acceptance", "until", "text"},
    {"ended", "reason", "text"},
    {"wait", "p50_seconds", "number"}, {"wait", "p90_seconds", "number?"},
    {"member", "group_id", "text"}, {"member", "member_id", "text"}, {"member", "is_ready", "boolean"},
    {"member", "status", "text"}, {"member", "ticket_id", "text?"},
    {"group", "status", "text"}, {"group", "members", "gathered[]"},
    {"gathered", "player_id", "text"}, {"gathered", "is_ready", "boolean"},
    {"running", "match_id", "text"}, {"running", "assignment", "assignment?"},
    {"seat", "assignment", "assignment?"},
    {"registered", "id", "text"}, {"registered", "alg", "text"}, {"registered", "key", "text"},
    {"registered", "version", "count"}, {"registered", "want", "text"}, {"registered", "reason", "text?"},
    {"registered", "matches", "order[]"}, {"registered", "knock", "text?"},
    {"orders", "version", "count"}, {"orders", "want", "text"}, {"orders", "reason", "text?"},
    {"orders", "matches", "order[]"}, {"orders", "knock", "text?"},
    {"order", "id", "text"}, {"order", "profile", "text"}, {"order", "teams", "team[]"},
    {"order", "equality", "object?"}, {"order", "intersection", "object?"},
    {"team", "name", "text"}, {"team", "players", "roster[]"},
    {"roster", "id", "text"}, {"roster", "ticket_id", "text"}, {"roster", "seat_id", "text?"},
    {"roster", "attributes", "object?"},
    {"claims", "aud", "text"}, {"claims", "sub", "text"}, {"claims", "mid", "text"}, {"claims", "sid", "text"},
    {"claims", "team", "text?"}, {"claims", "grp", "text?"}, {"claims", "iat", "number"},
    {"claims", "exp", "number"},
    {"command", "id", "number"}, {"command", "do", "text"}, {"command", "token", "text?"},
    {"command", "player", "text?"}, {"command", "mayReturnMs", "number?"}, {"command", "match", "text?"},
};

/** Whether a value has this type. What has another one is no answer of Muster. */
inline bool fits(std::string_view type, const Json& value) {
  if (type.back() == '?') return value.is_null() || fits(type.substr(0, type.size() - 1), value);
  const std::string_view of = type.substr(0, type.size() - (type.size() > 2 ? 2 : 0));
  if (type.back() == ']') {
    for (const Json& item : value.items())
      if (!fits(of, item)) return false;
    return value.is_array();
  }
  if (type.back() == '}') {
    for (const auto& [name, member] : value.members())
      if (!fits(of, member)) return false;
    return value.is_object();
  }
  const double number = value.number();
  if (type == "text") return value.is_text();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number() && std::isfinite(number);
  if (type == "count")
    return value.is_number() && number >= 0 && number <= 9007199254740991.0 && number == std::floor(number);
  for (const Field& field : fields)
    if (field.shape == type && !fits(field.type, value[field.name])) return false;
  return value.is_object();
}

}  // namespace detail
}  // namespace muster
