#include "base/text.hpp"

namespace tare {

std::string in_base(std::uint64_t n, int base) {
  char buf[72];
  const auto r = std::to_chars(buf, buf + sizeof buf, n, base);
  return {buf, r.ptr};
}

std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = s.find(separator);
    parts.push_back(s.substr(0, at));
    if (at == std::string_view::npos) return parts;
    s.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const auto& part : parts) {
    if (&part != &parts.front()) out += separator;
    out += part;
  }
  return out;
}

std::string_view trim(std::string_view s) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = s.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(kBlanks) - first + 1);
}

namespace {

// The length of the well-formed UTF-8 sequence at the start of s; 0 where there is none (RFC 3629).
std::size_t utf8_length(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const auto tail = [&](std::size_t i) { return i < s.size() && (at(i) & 0xC0) == 0x80; };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!tail(1) || !tail(2)) return 0;
    if ((lead == 0xE0 && at(1) < 0xA0) || (lead == 0xED && at(1) > 0x9F)) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if ((lead == 0xF0 && at(1) < 0x90) || (lead == 0xF4 && at(1) > 0x8F)) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

std::string quoted(std::string_view s) {
  std::string out = "\"";
  while (!s.empty()) {
    const auto byte = static_cast<unsigned char>(s.front());
    const std::size_t length = utf8_length(s);
    // C1 controls (U+0080 to U+009F) move a terminal's cursor as C0 ones do.
    const bool c1 = length == 2 && byte == 0xC2 && static_cast<unsigned char>(s[1]) < 0xA0;
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += s.front();
    } else if (length == 0 || c1 || byte < 0x20 || byte == 0x7F) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
      s.remove_prefix(1);
      continue;
    } else {
      out += s.substr(0, length);
      s.remove_prefix(length);
      continue;
    }
    s.remove_prefix(1);
  }
  out += '"';
  return out;
}

}  // namespace tare
