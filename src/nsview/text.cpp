#include "nsview/text.hpp"

#include <cstdint>

#include "base/text.hpp"

namespace tare::nsview {
namespace {

// One character off the front of a text: its code point and bytes; no code point for a byte that is none.
struct Character {
  std::uint32_t point = 0;
  std::size_t length = 1;
  bool valid = false;
};

// Source: the Unicode standard, table 3-7 (well-formed UTF-8).
Character first_of(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(s[i]); };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || s.size() < length) return {};
  std::uint32_t point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return {};
    point = (point << 6) | (at(i) & 0x3FU);
  }
  const bool too_long = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (too_long || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return {};
  return {point, length, true};
}

// Controls, and what changes the order or the lines in which text is shown.
bool acts(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

void hex(std::string& out, std::uint32_t n, int digits) {
  constexpr char kHex[] = "0123456789abcdef";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[(n >> shift) & 15];
}

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (static_cast<std::uint8_t>(c) < 0x20 || static_cast<std::uint8_t>(c) >= 0x7F || c == '\\' || c == '"')
      return false;
  return true;
}

}  // namespace

std::string visible(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const Character c = first_of(text);
    const std::string_view bytes = text.substr(0, c.length);
    if (!c.valid || acts(c.point)) {
      for (const char byte : bytes) {
        out += "\\x";
        hex(out, static_cast<std::uint8_t>(byte), 2);
      }
    } else if (c.point == '\\') {
      out += "\\\\";
    } else {
      out += bytes;
    }
    text.remove_prefix(c.length);
  }
  return out;
}

std::string json_string(std::string_view text) {
  if (is_plain(text)) return cat('"', text, '"');
  std::string out = "\"";
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const Character c = first_of(text);
    if (!c.valid) {
      out += "\xEF\xBF\xBD";
    } else if (acts(c.point)) {
      out += "\\u";
      hex(out, c.point, 4);
    } else {
      if (c.point == '"' || c.point == '\\') out += '\\';
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return out + '"';
}

}  // namespace tare::nsview
