#include "lab/observe/meter.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.hpp"

namespace tare::lab {

namespace {

sys::Fd open_in(const std::string& directory, const char* name) {
  return sys::Fd(open(cat(directory, "/", name).c_str(), O_RDONLY | O_CLOEXEC));
}

std::string_view text_of(const sys::Fd& fd, char (&buffer)[512]) {
  const ssize_t n = fd ? pread(fd.get(), buffer, sizeof buffer, 0) : 0;
  return {buffer, n > 0 ? static_cast<std::size_t>(n) : 0};
}

std::int64_t number_in(std::string_view text) { return parse_number<std::int64_t>(trim(text)).value_or(-1); }

sys::Fd counter(pid_t worker, std::uint64_t what) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = what;
  attr.inherit = 1;
  return sys::Fd(static_cast<int>(syscall(SYS_perf_event_open, &attr, worker, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

std::int64_t value_of(const sys::Fd& fd) {
  std::int64_t n = -1;
  return fd && ::read(fd.get(), &n, sizeof n) == sizeof n ? n : -1;
}

}  // namespace

Meter::Meter(pid_t worker, const std::vector<std::string>& directories)
    : instructions_(counter(worker, PERF_COUNT_HW_INSTRUCTIONS)), cycles_(counter(worker, PERF_COUNT_HW_CPU_CYCLES)) {
  for (const std::string& directory : directories) {
    if (!cpu_) cpu_ = open_in(directory, "cpuacct.usage");
    if (!peak_) peak_ = open_in(directory, "memory.max_usage_in_bytes");
    if (!peak_) peak_ = open_in(directory, "memory.peak");
  }
  for (std::size_t i = 0; !cpu_ && i < directories.size(); ++i) {
    cpu_ = open_in(directories[i], "cpu.stat");
    cpu_in_microseconds_ = true;
  }
}

Reading Meter::read() const {
  Reading out;
  char buffer[512];
  if (cpu_in_microseconds_) {
    constexpr std::string_view kKey = "usage_usec ";
    const std::string_view text = text_of(cpu_, buffer);
    if (text.starts_with(kKey)) {
      const std::int64_t us = number_in(text.substr(kKey.size(), text.find('\n') - kKey.size()));
      out.cpu_ns = us < 0 ? -1 : us * 1000;
    }
  } else {
    out.cpu_ns = number_in(text_of(cpu_, buffer));
  }
  out.peak_bytes = number_in(text_of(peak_, buffer));
  out.instructions = value_of(instructions_);
  out.cycles = value_of(cycles_);
  return out;
}

Reading difference(const Reading& before, const Reading& after) {
  const auto less = [](std::int64_t a, std::int64_t b) { return a < 0 || b < 0 ? -1 : a - b; };
  return {less(after.cpu_ns, before.cpu_ns), after.peak_bytes, less(after.instructions, before.instructions),
          less(after.cycles, before.cycles)};
}

}  // namespace tare::lab
