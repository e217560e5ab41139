// SHA-256, HMAC and base64url for join tokens, without a library.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {
namespace detail {

inline std::string sha256(std::string_view message) {
  static constexpr std::array<std::uint32_t, 64> k = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
  std::array<std::uint32_t, 8> h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto turned = [](std::uint32_t value, int by) { return value >> by | value << (32 - by); };

  std::string padded(message);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = static_cast<std::uint64_t>(message.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xff);

  for (std::size_t from = 0; from < padded.size(); from += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; i++) w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(padded[from + i]);
    for (std::size_t i = 16; i < 64; i++) {
      const std::uint32_t s0 = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
      const std::uint32_t s1 = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, last] = h;
    for (std::size_t i = 0; i < 64; i++) {
      const std::uint32_t s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const std::uint32_t one = last + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i];
      const std::uint32_t s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const std::uint32_t two = s0 + ((a & b) ^ (a & c) ^ (b & c));
      last = g;
      g = f;
      f = e;
      e = d + one;
      d = c;
      c = b;
      b = a;
      a = one + two;
    }
    const std::array<std::uint32_t, 8> more = {a, b, c, d, e, f, g, last};
    for (std::size_t i = 0; i < 8; i++) h[i] += more[i];
  }
  std::string digest;
  for (const std::uint32_t word : h)
    for (int shift = 24; shift >= 0; shift -= 8) digest += static_cast<char>(word >> shift & 0xff);
  return digest;
}

inline std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string block = key.size() > 64 ? sha256(key) : std::string(key);
  block.resize(64, '\0');
  std::string inner = block, outer = block;
  for (char& one : inner) one = static_cast<char>(one ^ 0x36);
  for (char& one : outer) one = static_cast<char>(one ^ 0x5c);
  inner += message;
  return sha256(outer + sha256(inner));
}

/** What is no sign of base64url is left out. */
inline std::string from_base64url(std::string_view text) {
  static constexpr std::string_view signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char one : text) {
    const std::size_t value = signs.find(one);
    if (value == std::string_view::npos) continue;
    held = (held << 6 | static_cast<std::uint32_t>(value)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xff);
  }
  return bytes;
}

/** Takes as long whatever differs. */
inline bool are_same_bytes(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  int difference = 0;
  for (std::size_t i = 0; i < one.size(); i++) difference |= one[i] ^ other[i];
  return difference == 0;
}

}  // namespace detail
}  // namespace muster
