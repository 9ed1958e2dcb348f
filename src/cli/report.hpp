// What tare tells: errors and warnings for people on stderr, and the log file that engines read.
//
// Source: conmon and containerd take the last line of --log with its "msg"; the formats are runc's.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "sys/fd.hpp"

namespace tare::cli {

enum class LogFormat { text, json };
enum class Level { debug, info, warning, error };

// One line of the log, with its line end. `time` is RFC 3339.
std::string log_line(LogFormat format, Level level, std::string_view message, std::string_view time);

class Reporter {
 public:
  // path: "" for none; "file:PATH" is PATH. Throws kind usage for other schemes.
  void open_log(std::string_view path, LogFormat format, bool debug);

  // "tare: create web1: ...", and "hint: ..." below it.
  void error(const Error& error);
  void warning(std::string_view text);
  void debug(std::string_view text);  // only with --debug

 private:
  void log(Level level, std::string_view text);

  sys::Fd file_;
  LogFormat format_ = LogFormat::text;
  bool debug_ = false;
  bool json_on_stderr_ = false;  // --log-format json without --log
};

// All of text to stdout; an error (a full disk, a closed pipe) is thrown.
void print(std::string_view text);

// Text as it may be shown on a terminal: quoted where it holds anything that could act there.
std::string shown(std::string_view text);

}  // namespace tare::cli
