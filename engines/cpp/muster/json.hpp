// JSON as Muster writes it: values, a parser and a writer. Without exceptions: text that cannot be parsed gives no
// value.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/** A value of JSON. Reading what is not there gives null, zero, false or an empty text. */
class Json {
 public:
  using Members = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : type_(Type::boolean), number_(value ? 1 : 0) {}
  Json(double value) : type_(Type::number), number_(value) {}
  Json(int value) : Json(static_cast<double>(value)) {}
  Json(std::int64_t value) : Json(static_cast<double>(value)) {}
  Json(std::string value) : type_(Type::text), text_(std::move(value)) {}
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}

  static Json object(std::initializer_list<std::pair<const char*, Json>> members = {}) {
    Json made;
    made.type_ = Type::object;
    for (const auto& [name, value] : members) made.set(name, value);
    return made;
  }
  static Json array(std::vector<Json> items = {}) {
    Json made;
    made.type_ = Type::array;
    made.items_ = std::move(items);
    return made;
  }
  /** @returns nothing if the text is not JSON */
  static std::optional<Json> parse(std::string_view text);

  bool is_null() const { return type_ == Type::null; }
  bool is_object() const { return type_ == Type::object; }
  bool is_array() const { return type_ == Type::array; }
  bool is_text() const { return type_ == Type::text; }
  bool is_boolean() const { return type_ == Type::boolean; }
  bool is_number() const { return type_ == Type::number; }
  bool boolean() const { return type_ == Type::boolean && number_ != 0; }
  double number() const { return type_ == Type::number ? number_ : 0; }
  const std::string& text() const { return text_; }
  const std::vector<Json>& items() const { return items_; }
  const Members& members() const { return members_; }

  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Json& operator[](std::string_view name) const {
    static const Json none;
    const Json* found = find(name);
    return found == nullptr ? none : *found;
  }
  /** Adds a member to an object, or replaces it. */
  Json& set(std::string_view name, Json value) {
    type_ = Type::object;
    for (auto& [known, old] : members_)
      if (known == name) {
        old = std::move(value);
        return *this;
      }
    members_.emplace_back(std::string(name), std::move(value));
    return *this;
  }
  void add(Json item) {
    type_ = Type::array;
    items_.push_back(std::move(item));
  }
  Json without(std::string_view name) const {
    Json rest = Json::object();
    for (const auto& [known, value] : members_)
      if (known != name) rest.set(known, value);
    return rest;
  }

  /** The order of members does not count. */
  bool operator==(const Json& other) const {
    if (type_ != other.type_ || number_ != other.number_) return false;
    if (text_ != other.text_ || items_ != other.items_) return false;
    if (members_.size() != other.members_.size()) return false;
    for (const auto& [name, value] : members_) {
      const Json* found = other.find(name);
      if (found == nullptr || !(*found == value)) return false;
    }
    return true;
  }
  bool operator!=(const Json& other) const { return !(*this == other); }

  std::string dump() const {
    std::string out;
    write(out);
    return out;
  }

 private:
  enum class Type { null, boolean, number, text, array, object };

  const Json* find(std::string_view name) const {
    for (const auto& [known, value] : members_)
      if (known == name) return &value;
    return nullptr;
  }
  void write(std::string& out) const;

  Type type_ = Type::null;
  double number_ = 0;
  std::string text_;
  std::vector<Json> items_;
  Members members_;
};

namespace detail {

inline void write_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char one : text) {
    const auto code = static_cast<unsigned char>(one);
    if (one == '"' || one == '\\') {
      out += '\\';
      out += one;
    } else if (code < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
      out += escaped;
    } else {
      out += one;
    }
  }
  out += '"';
}

/** What C writes between 0 and 5 in 0.5, by the locale that the game has set: a comma in German. */
inline std::string decimal_point() {
  char half[16];
  std::snprintf(half, sizeof half, "%.1f", 0.5);
  const std::string text = half;
  return text.substr(1, text.size() - 2);
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline void write_number(std::string& out, double number) {
  char text[32];
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const bool is_whole = std::fabs(number) < 9e15 && number == std::floor(number);
  std::snprintf(text, sizeof text, is_whole ? "%.0f" : "%.17g", number);
  out += is_whole ? text : replaced(text, decimal_point(), ".");
}

/** Reads one text of JSON, nested at most 64 deep. */
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Json> whole() {
    std::optional<Json> value = any(0);
    skip();
    return value && at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      at_++;
  }
  bool take(char wanted) {
    skip();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    at_++;
    return true;
  }
  bool word(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  std::optional<Json> any(int depth) {
    skip();
    if (at_ >= text_.size() || depth > 64) return std::nullopt;
    if (take('{')) return object(depth);
    if (take('[')) return array(depth);
    if (text_[at_] == '"') {
      std::string text;
      return quoted(text) ? std::optional<Json>(Json(std::move(text))) : std::nullopt;
    }
    if (word("true")) return Json(true);
    if (word("false")) return Json(false);
    if (word("null")) return Json();
    return number();
  }

  std::optional<Json> object(int depth) {
    Json made = Json::object();
    if (take('}')) return made;
    do {
      std::string name;
      skip();
      if (!quoted(name) || !take(':')) return std::nullopt;
      std::optional<Json> value = any(depth + 1);
      if (!value) return std::nullopt;
      made.set(name, std::move(*value));
    } while (take(','));
    return take('}') ? std::optional<Json>(std::move(made)) : std::nullopt;
  }

  std::optional<Json> array(int depth) {
    Json made = Json::array();
    if (take(']')) return made;
    do {
      std::optional<Json> value = any(depth + 1);
      if (!value) return std::nullopt;
      made.add(std::move(*value));
    } while (take(','));
    return take(']') ? std::optional<Json>(std::move(made)) : std::nullopt;
  }

  std::optional<Json> number() {
    const std::size_t from = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos) at_++;
    const std::string found = replaced(std::string(text_.substr(from, at_ - from)), ".", decimal_point());
    char* end = nullptr;
    const double value = std::strtod(found.c_str(), &end);
    if (found.empty() || *end != '\0') return std::nullopt;
    return Json(value);
  }

  bool hex(std::uint32_t& code) {
    code = 0;
    for (int digit = 0; digit < 4; digit++, at_++) {
      if (at_ >= text_.size()) return false;
      const char one = text_[at_];
      const int value = one >= '0' && one <= '9'   ? one - '0'
                        : one >= 'a' && one <= 'f' ? one - 'a' + 10
                        : one >= 'A' && one <= 'F' ? one - 'A' + 10
                                                   : -1;
      if (value < 0) return false;
      code = code * 16 + static_cast<std::uint32_t>(value);
    }
    return true;
  }

  static void append(std::string& out, std::uint32_t code) {
    const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) {
      byte(0xc0 | code >> 6);
    } else if (code < 0x10000) {
      byte(0xe0 | code >> 12);
      byte(0x80 | (code >> 6 & 0x3f));
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3f));
      byte(0x80 | (code >> 6 & 0x3f));
    }
    byte(0x80 | (code & 0x3f));
  }

  bool escaped(std::string& out) {
    static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return false;
    const char name = text_[at_++];
    if (name != 'u') {
      const std::size_t nth = names.find(name);
      if (nth == std::string_view::npos) return false;
      out += values[nth];
      return true;
    }
    std::uint32_t code = 0, second = 0;
    if (!hex(code)) return false;
    if (code >= 0xd800 && code < 0xdc00 && word("\\u")) {
      if (!hex(second)) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
    }
    append(out, code);
    return true;
  }

  bool quoted(std::string& out) {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    for (at_++; at_ < text_.size();) {
      const char one = text_[at_++];
      if (one == '"') return true;
      if (one != '\\')
        out += one;
      else if (!escaped(out))
        return false;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace detail

inline std::optional<Json> Json::parse(std::string_view text) { return detail::Reader(text).whole(); }

inline void Json::write(std::string& out) const {
  switch (type_) {
    case Type::null:
      out += "null";
      return;
    case Type::boolean:
      out += number_ != 0 ? "true" : "false";
      return;
    case Type::number:
      return detail::write_number(out, number_);
    case Type::text:
      return detail::write_text(out, text_);
    case Type::array: {
      const char* between = "[";
      for (const Json& item : items_) {
        out += between;
        item.write(out);
        between = ",";
      }
      out += items_.empty() ? "[]" : "]";
      return;
    }
    case Type::object: {
      const char* between = "{";
      for (const auto& [name, value] : members_) {
        out += between;
        detail::write_text(out, name);
        out += ':';
        value.write(out);
        between = ",";
      }
      out += members_.empty() ? "{}" : "}";
      return;
    }
  }
}

}  // namespace muster
