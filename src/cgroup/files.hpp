// Reading and writing single cgroup files by path, with the errors this room wants.
//
// For: the other files of cgroup/. Paths are below trusted mount points, where no symbolic links are.
// Not for: anything a container can put a link into.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tare::cgroup {

// One write(2). 0 or the errno; after EINTR tried again, some times.
int try_write(const std::string& file, std::string_view value);
int try_write(int fd, std::string_view value);

// As above, but throws: "FIELD: write "VALUE" to FILE: errno text". kind unsupported where the file does
// not exist or knows no such operation, else kernel. An empty field is left out.
void write_field(std::string_view field, const std::string& file, std::string_view value);
[[noreturn]] void throw_write(std::string_view field, const std::string& file, std::string_view value, int errno_value);

// The text of an open file; nothing where its cgroup is gone, or has no such list (a threaded one).
std::optional<std::string> read_open(int fd, std::string_view name);
// The file's text without the newline at its end; nothing as above, or where there is no such file.
std::optional<std::string> try_read(const std::string& file);
std::string read(const std::string& file);
// A number, "max" giving the largest; nothing where the file is absent or holds something else.
std::optional<std::uint64_t> try_read_number(const std::string& file);
// The number after "KEY " at the start of a line ("usage_usec 12\nuser_usec 3\n").
std::optional<std::uint64_t> keyed_number(std::string_view text, std::string_view key);

bool exists(const std::string& path);

// ENOENT, ENODEV: the cgroup was removed while we looked.
bool is_gone(int errno_value);

// A bounded wait: pause() sleeps 1 ms at first, then longer, up to 20 ms; false once the time is over.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds most) : end_(std::chrono::steady_clock::now() + most) {}
  bool pause();

 private:
  std::chrono::steady_clock::time_point end_;
  std::chrono::milliseconds next_{1};
};

inline constexpr std::chrono::milliseconds kPatience{10'000};

}  // namespace tare::cgroup
