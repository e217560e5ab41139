// Join tokens (docs/servers.md, Who connects?), signed with HS256.
#pragma once

#include <string>
#include <string_view>

#include "json.hpp"
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

/**
 * Reads a join token. The algorithm is the server's, whatever the token's header says. Tokens of `EdDSA` are refused.
 * @param now epoch milliseconds by Muster's clock
 */
inline JoinClaims read_join_token(std::string_view token, const JoinKey& key, double now) {
  const JoinClaims malformed{Json(), "malformed"};
  const std::size_t first = token.find('.');
  const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (token.size() > 2048 || second == std::string_view::npos) return malformed;
  const std::string_view mac = token.substr(second + 1);
  if (mac.empty() || mac.find('.') != std::string_view::npos) return malformed;
  const auto part = [](std::string_view text) { return Json::parse(detail::from_base64url(text)).value_or(Json()); };
  if (part(token.substr(0, first))["alg"].text() != key.alg) return malformed;
  const std::string wanted = detail::hmac_sha256(key.key, token.substr(0, second));
  if (key.alg != "HS256" || !detail::are_same_bytes(detail::from_base64url(mac), wanted)) return {Json(), "forged"};
  const Json claims = part(token.substr(first + 1, second - first - 1));
  for (const char* name : {"aud", "sub", "mid", "sid"})
    if (!claims[name].is_text()) return malformed;
  if (!claims["exp"].is_number()) return malformed;
  if (claims["aud"].text() != key.server) return {Json(), "other-server"};
  if (claims["exp"].number() * 1000 <= now) return {Json(), "expired"};
  return {claims, nullptr};
}

/** A sentence about a player who is not let in. It holds nothing of the token. */
inline const char* sentence_of(std::string_view refused) {
  if (refused == "malformed") return "This is no join token.";
  if (refused == "forged") return "The join token was signed by another key.";
  if (refused == "expired") return "The join token has expired. A fresh one comes with GET /me.";
  if (refused == "other-server") return "The join token is for another server.";
  if (refused == "used") return "The join token was used before. A fresh one comes with GET /me.";
  return "The join token is for a match or a seat that this server does not have.";
}

}  // namespace muster
