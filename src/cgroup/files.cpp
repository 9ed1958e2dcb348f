#include "cgroup/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sys/fd.hpp"

namespace tare::cgroup {

int try_write(int fd, std::string_view value) {
  // Who sends signals again and again wants the call to end (update.cpp).
  for (int tries = 0; ::write(fd, value.data(), value.size()) < 0; ++tries)
    if (errno != EINTR || tries == 8) return errno;
  return 0;
}

int try_write(const std::string& file, std::string_view value) {
  const sys::Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno;
  return try_write(fd.get(), value);
}

void throw_write(std::string_view field, const std::string& file, std::string_view value, int errno_value) {
  const bool cannot = errno_value == ENOENT || errno_value == EOPNOTSUPP;
  Error error(cannot ? ErrorKind::unsupported : ErrorKind::kernel,
              cat("write ", quoted(value), " to ", file, ": ", errno_text(errno_value)), errno_value);
  if (!field.empty()) error.in_front(field);
  throw error;
}

void write_field(std::string_view field, const std::string& file, std::string_view value) {
  if (const int e = try_write(file, value)) throw_write(field, file, value, e);
}

std::optional<std::string> read_open(int fd, std::string_view name) {
  char buffer[4096];
  std::string text;
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    // A threaded cgroup has no list of processes (EOPNOTSUPP); they are listed at its domain.
    if (n < 0 && (is_gone(errno) || errno == EOPNOTSUPP)) return std::nullopt;
    if (n < 0) throw_errno(cat("read ", name), errno);
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

std::optional<std::string> try_read(const std::string& file) {
  const sys::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (is_gone(errno)) return std::nullopt;
    throw_errno(cat("open ", file), errno);
  }
  std::optional<std::string> text = read_open(fd.get(), file);
  if (text && text->ends_with('\n')) text->pop_back();
  return text;
}

std::string read(const std::string& file) {
  std::optional<std::string> text = try_read(file);
  if (!text) throw_errno(cat("open ", file), ENOENT);
  return std::move(*text);
}

std::optional<std::uint64_t> try_read_number(const std::string& file) {
  const std::optional<std::string> text = try_read(file);
  if (!text) return std::nullopt;
  if (*text == "max") return std::numeric_limits<std::uint64_t>::max();
  return parse_number<std::uint64_t>(*text);
}

std::optional<std::uint64_t> keyed_number(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ')
      return parse_number<std::uint64_t>(line.substr(key.size() + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_gone(int errno_value) { return errno_value == ENOENT || errno_value == ENODEV; }

bool Patience::pause() {
  if (std::chrono::steady_clock::now() >= end_) return false;
  timespec ts{0, static_cast<long>(next_.count()) * 1'000'000};
  ::nanosleep(&ts, nullptr);
  next_ = std::min(next_ * 2, std::chrono::milliseconds(20));
  return true;
}

}  // namespace tare::cgroup
