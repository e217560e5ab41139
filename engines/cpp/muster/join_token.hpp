// Join tokens (docs/servers.md, Who connects?), signed with HS256.
#pragma once

#include <string>
#include <string_view>

#include "json.hpp"
#include "shapes.hpp"
#include "sha256.hpp"

namespace muster {

/** How a server checks who connects. */
struct JoinKey {
  std::string alg;
  std::string key;
  /** Id of the server: the audience of its tokens. */
  std::string server;
};

/** What a token says, or why it is refused: `malformed`, `forged`, `other-server` or `expired`. */
struct JoinClaims {
  Json claims;
  const char* refused = nullptr;
};

namespace detail {
inline bool is_base64url(std::string_view text) {
  const char* const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return !text.empty() && text.size() % 4 != 1 && text.find_first_not_of(letters) == std::string_view::npos;
}
}  // namespace detail

/**
 * Reads a join token. The algorithm is the server's, whatever the token's header says. Tokens of `EdDSA` are refused.
 * @param now epoch milliseconds by Muster's clock
 */
inline JoinClaims read_join_token(std::string_view token, const JoinKey& key, double now) {
  const JoinClaims malformed{Json(), "malformed"};
  const std::size_t first = token.find('.');
  const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (token.size() > 2048 || second == std::string_view::npos) return malformed;
  const std::string_view header = token.substr(0, first), mac = token.substr(second + 1);
  const std::string_view payload = token.substr(first + 1, second - first - 1);
  for (const std::string_view text : {header, payload, mac})
    if (!detail::is_base64url(text)) return malformed;
  const auto part = [](std::string_view text) { return Json::parse(detail::from_base64url(text)).value_or(Json()); };
  const Json alg = part(header)["alg"];
  if (!alg.is_text() || alg.text() != key.alg) return malformed;
  const std::string wanted = detail::hmac_sha256(key.key, token.substr(0, second));
  if (key.alg != "HS256" || !detail::are_same_bytes(detail::from_base64url(mac), wanted)) return {Json(), "forged"};
  const Json claims = part(payload);
  if (!detail::fits("claims", claims)) return malformed;
  if (claims["aud"].text() != key.server) return {Json(), "other-server"};
  if (claims["exp"].number() * 1000 <= now) return {Json(), "expired"};
  return {claims, nullptr};
}

/** A sentence about a player who is not let in. It holds nothing of the token. */
inline const char* sentence_of(std::string_view refused) {
  if (refused == "malformed") return "Not a valid join token.";
  if (refused == "forged") return "The join token was signed by another key.";
  if (refused == "expired") return "The join token has expired. Get a new one with GET /me.";
  if (refused == "other-server") return "The join token is for another server.";
  if (refused == "used") return "The join token was used before. Get a new one with GET /me.";
  return "The join token is for a match or a seat that this server does not have.";
}

}  // namespace muster
