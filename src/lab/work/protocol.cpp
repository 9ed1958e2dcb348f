#include "lab/work/protocol.hpp"

#include <charconv>
#include <cstring>

namespace tare::lab {

namespace {

// The next blank-separated word; false at the end or where two blanks follow each other.
bool next_word(std::string_view& rest, std::string_view& word) noexcept {
  if (rest.empty()) return false;
  const auto blank = rest.find(' ');
  word = rest.substr(0, blank);
  rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
  return !word.empty();
}

bool next_number(std::string_view& rest, std::int64_t& out) noexcept {
  std::string_view word;
  if (!next_word(rest, word)) return false;
  const auto r = std::from_chars(word.data(), word.data() + word.size(), out);
  return r.ec == std::errc{} && r.ptr == word.data() + word.size() && out >= 0;
}

bool begins_with(std::string_view& rest, std::string_view verb) noexcept {
  std::string_view word;
  return next_word(rest, word) && word == verb;
}

}  // namespace

bool parse_hello(std::string_view rest, std::int64_t& owner) noexcept {
  return begins_with(rest, "hello") && next_number(rest, owner) && rest.empty();
}

bool parse_run(std::string_view rest, RunRequest& out) noexcept {
  return begins_with(rest, "run") && next_word(rest, out.workload) && next_number(rest, out.count) &&
         next_number(rest, out.delay) && next_number(rest, out.time_ns) && rest.empty() && out.count > 0;
}

bool parse_done(std::string_view rest, RunResult& out) noexcept {
  return begins_with(rest, "done") && next_number(rest, out.wall_ns) && next_number(rest, out.cpu_ns) &&
         next_number(rest, out.faults) && next_number(rest, out.voluntary) && next_number(rest, out.involuntary) &&
         next_number(rest, out.count) && rest.empty();
}

bool parse_failure(std::string_view rest, Failure& out) noexcept {
  return begins_with(rest, "fail") && next_word(rest, out.step) && next_number(rest, out.errno_value) &&
         next_number(rest, out.status) && rest.empty();
}

void Message::put(std::string_view text) noexcept {
  const std::size_t room = sizeof buffer_ - size_;
  const std::size_t n = text.size() < room ? text.size() : room;
  std::memcpy(buffer_ + size_, text.data(), n);
  size_ += n;
}

Message& Message::word(std::string_view text) noexcept {
  if (size_ > 0) put(" ");
  put(text);
  return *this;
}

Message& Message::number(std::int64_t n) noexcept {
  char digits[24];
  const auto r = std::to_chars(digits, digits + sizeof digits, n);
  return word({digits, static_cast<std::size_t>(r.ptr - digits)});
}

Message& Message::pair(std::string_view key, std::int64_t n) noexcept {
  word(key);
  put("=");
  char digits[24];
  const auto r = std::to_chars(digits, digits + sizeof digits, n);
  put({digits, static_cast<std::size_t>(r.ptr - digits)});
  return *this;
}

}  // namespace tare::lab
