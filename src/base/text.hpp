// Text: joining, splitting, and strict parsing of numbers. No locale, no iostream, no kernel.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

namespace text_detail {
inline void append(std::string& out, std::string_view s) { out += s; }
inline void append(std::string& out, const char* s) { out += s; }
inline void append(std::string& out, const std::string& s) { out += s; }
inline void append(std::string& out, char c) { out += c; }
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
void append(std::string& out, T n) {
  char buf[24];
  const auto r = std::to_chars(buf, buf + sizeof buf, n);
  out.append(buf, r.ptr);
}
}  // namespace text_detail

// cat("open ", path, ": ", 7): the parts one after the other; integers in decimal.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (text_detail::append(out, parts), ...);
  return out;
}

// n in base 8 or 16, lower case, without a prefix.
std::string in_base(std::uint64_t n, int base);

// The whole of s as a number: no blanks, no sign but '-' for signed types, no prefix, no overflow.
template <std::integral T>
std::optional<T> parse_number(std::string_view s, int base = 10) {
  T value{};
  const auto r = std::from_chars(s.data(), s.data() + s.size(), value, base);
  if (s.empty() || r.ec != std::errc{} || r.ptr != s.data() + s.size()) return std::nullopt;
  return value;
}

// The pieces between separators; "" gives one empty piece; empty pieces are kept.
std::vector<std::string_view> split(std::string_view s, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view s);

// s between double quotes, with control characters, quotes, backslashes and bytes that are not
// UTF-8 escaped: what a container, an image or a file can name reaches a terminal only through this.
std::string quoted(std::string_view s);

}  // namespace tare
