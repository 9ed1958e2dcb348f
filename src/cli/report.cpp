#include "cli/report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/json.hpp"
#include "base/text.hpp"

namespace tare::cli {
namespace {

constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};

std::string two(int n) { return n < 10 ? cat('0', n) : cat(n); }

// Seconds suffice for a log, and UTC needs no time zone file.
std::string now() {
  const std::time_t t = std::time(nullptr);
  std::tm tm{};
  gmtime_r(&t, &tm);
  return cat(tm.tm_year + 1900, "-", two(tm.tm_mon + 1), "-", two(tm.tm_mday), "T", two(tm.tm_hour), ":",
             two(tm.tm_min), ":", two(tm.tm_sec), "Z");
}

// There is nobody left to tell when stderr fails.
void to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Messages are text of our own, in which names were quoted where they were put in; should one have
// been forgotten, it still can't move a terminal's cursor or begin a line of its own.
std::string harmless(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += cat("\\x", byte < 0x10 ? "0" : "", in_base(byte, 16));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string log_line(LogFormat format, Level level, std::string_view message, std::string_view time) {
  const std::string_view name = kLevels[static_cast<int>(level)];
  if (format == LogFormat::json) {
    json::Writer writer;
    writer.begin_object().key("level").string(name).key("msg").string(message).key("time").string(time).end_object();
    return writer.take() + "\n";
  }
  return cat("time=\"", time, "\" level=", name, " msg=", quoted(message), "\n");
}

void Reporter::open_log(std::string_view path, LogFormat format, bool debug) {
  format_ = format;
  debug_ = debug;
  if (path.starts_with("file:")) path.remove_prefix(5);
  for (const std::string_view scheme : {"journald:", "syslog:"}) {
    if (path.starts_with(scheme)) {
      throw Error(ErrorKind::usage, cat("--log: ", scheme, " is not supported, only files are"));
    }
  }
  if (path.empty()) {
    json_on_stderr_ = format == LogFormat::json;
    return;
  }
  file_ = sys::open(std::string(path), O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY, 0644);
}

void Reporter::log(Level level, std::string_view text) {
  if (!file_) return;
  // One write for a line: several runtimes append to one file.
  const std::string line = log_line(format_, level, text, now());
  if (write(file_.get(), line.data(), line.size()) < 0) to_stderr(cat("tare: log: ", errno_text(errno), "\n"));
}

void Reporter::error(const Error& error) {
  log(Level::error, error.text());
  if (json_on_stderr_) return to_stderr(log_line(format_, Level::error, error.text(), now()));
  std::string text = cat("tare: ", harmless(error.text()), "\n");
  if (!error.hint().empty()) text += cat("hint: ", harmless(error.hint()), "\n");
  to_stderr(text);
}

void Reporter::warning(std::string_view text) {
  log(Level::warning, text);
  to_stderr(json_on_stderr_ ? log_line(format_, Level::warning, text, now())
                            : cat("tare: warning: ", harmless(text), "\n"));
}

void Reporter::debug(std::string_view text) {
  if (!debug_) return;
  log(Level::debug, text);
  if (!file_)
    to_stderr(json_on_stderr_ ? log_line(format_, Level::debug, text, now()) : cat("tare: debug: ", text, "\n"));
}

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno("write to standard output", errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string shown(std::string_view text) {
  const std::string in_quotes = quoted(text);
  // Nothing was escaped: as it is.
  return in_quotes.size() == text.size() + 2 ? std::string(text) : in_quotes;
}

}  // namespace tare::cli
