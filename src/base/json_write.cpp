// Writing: text by appending; the only state is which brackets are open.
#include <charconv>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"

namespace tare::json {
namespace {

void append_escaped(std::string& out, std::string_view s) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  std::size_t done = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto byte = static_cast<unsigned char>(s[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out += s.substr(done, i - done);
    done = i + 1;
    out += '\\';
    switch (byte) {
      case '"':
      case '\\':
        out += s[i];
        break;
      case '\b':
        out += 'b';
        break;
      case '\f':
        out += 'f';
        break;
      case '\n':
        out += 'n';
        break;
      case '\r':
        out += 'r';
        break;
      case '\t':
        out += 't';
        break;
      default:
        out += "u00";
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
    }
  }
  out += s.substr(done);
  out += '"';
}

[[noreturn]] void misused(const char* what) { throw Error(ErrorKind::bug, what); }

}  // namespace

std::string escaped(std::string_view s) {
  std::string out;
  append_escaped(out, s);
  return out;
}

void Writer::line() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(static_cast<std::size_t>(indent_) * open_.size(), tab_ ? '\t' : ' ');
}

void Writer::before_value() {
  if (after_key_) {
    after_key_ = false;
  } else if (open_.empty()) {
    if (!first_) misused("json writer: a second value outside of everything");
  } else {
    if (open_.back() == '{') misused("json writer: a value without a key in an object");
    if (!first_) out_ += ',';
    line();
  }
  first_ = false;
}

void Writer::close(char c) {
  const char opened = c == '}' ? '{' : '[';
  if (open_.empty() || open_.back() != opened || after_key_) misused("json writer: an end where nothing can end");
  open_.pop_back();
  if (!first_) line();
  out_ += c;
  first_ = false;
}

Writer& Writer::begin_object() {
  before_value();
  out_ += '{';
  open_ += '{';
  first_ = true;
  return *this;
}

Writer& Writer::end_object() {
  close('}');
  return *this;
}

Writer& Writer::begin_array() {
  before_value();
  out_ += '[';
  open_ += '[';
  first_ = true;
  return *this;
}

Writer& Writer::end_array() {
  close(']');
  return *this;
}

Writer& Writer::key(std::string_view key) {
  if (open_.empty() || open_.back() != '{' || after_key_) misused("json writer: a key where none can be");
  if (!first_) out_ += ',';
  line();
  append_escaped(out_, key);
  out_ += ':';
  if (indent_ != 0) out_ += ' ';
  first_ = false;
  after_key_ = true;
  return *this;
}

Writer& Writer::string(std::string_view value) {
  before_value();
  append_escaped(out_, value);
  return *this;
}

Writer& Writer::number(std::int64_t value) {
  before_value();
  char digits[24];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return *this;
}

Writer& Writer::number(std::uint64_t value) {
  before_value();
  char digits[24];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return *this;
}

Writer& Writer::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
  return *this;
}

Writer& Writer::null() {
  before_value();
  out_ += "null";
  return *this;
}

Writer& Writer::strings(const std::vector<std::string>& values) {
  begin_array();
  for (const auto& value : values) string(value);
  return end_array();
}

Writer& Writer::raw(std::string_view json) {
  before_value();
  out_ += json;
  return *this;
}

std::string Writer::take() {
  if (!open_.empty() || after_key_) misused("json writer: taken before its end");
  first_ = true;
  return std::exchange(out_, {});
}

}  // namespace tare::json
