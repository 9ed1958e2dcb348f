// Signals by name and number, from signal(7); the numbers are those of x86 and ARM.
#include "base/text.hpp"
#include "oci/lookup.hpp"
#include "oci/names.hpp"

namespace tare::oci {
namespace {

constexpr Named<int> kSignals[] = {
    {"HUP", 1},
    {"INT", 2},
    {"QUIT", 3},
    {"ILL", 4},
    {"TRAP", 5},
    {"ABRT", 6},
    {"BUS", 7},
    {"FPE", 8},
    {"KILL", 9},
    {"USR1", 10},
    {"SEGV", 11},
    {"USR2", 12},
    {"PIPE", 13},
    {"ALRM", 14},
    {"TERM", 15},
    {"STKFLT", 16},
    {"CHLD", 17},
    {"CONT", 18},
    {"STOP", 19},
    {"TSTP", 20},
    {"TTIN", 21},
    {"TTOU", 22},
    {"URG", 23},
    {"XCPU", 24},
    {"XFSZ", 25},
    {"VTALRM", 26},
    {"PROF", 27},
    {"WINCH", 28},
    {"IO", 29},
    {"PWR", 30},
    {"SYS", 31},
    // Second names: found by name only, since the table is searched from the front.
    {"IOT", 6},
    {"CLD", 17},
    {"POLL", 29},
    {"UNUSED", 31},
};

// As glibc counts: it keeps 32 and 33 for its threads. Another libc inside counts otherwise.
constexpr int kRtMin = 34;
constexpr int kRtMax = 64;

std::optional<int> realtime_signal(std::string_view name) {
  const bool from_min = name.starts_with("RTMIN");
  if (!from_min && !name.starts_with("RTMAX")) return std::nullopt;
  const std::string_view rest = name.substr(5);
  if (rest.empty()) return from_min ? kRtMin : kRtMax;
  if (rest.front() != (from_min ? '+' : '-')) return std::nullopt;
  const auto distance = parse_number<unsigned>(rest.substr(1));
  if (!distance || *distance > kRtMax - kRtMin) return std::nullopt;
  return from_min ? kRtMin + static_cast<int>(*distance) : kRtMax - static_cast<int>(*distance);
}

}  // namespace

std::optional<int> signal_number(std::string_view name) {
  if (const auto number = parse_number<unsigned>(name)) {
    if (*number > kRtMax) return std::nullopt;
    return static_cast<int>(*number);
  }
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  std::string_view bare = upper;
  if (bare.starts_with("SIG")) bare.remove_prefix(3);
  if (const auto number = number_in(kSignals, bare)) return number;
  return realtime_signal(bare);
}

std::string signal_name(int number) {
  if (const auto name = name_in(kSignals, number); !name.empty()) return cat("SIG", name);
  if (number == kRtMin) return "SIGRTMIN";
  if (number > kRtMin && number <= kRtMax) return cat("SIGRTMIN+", number - kRtMin);
  return {};
}

}  // namespace tare::oci
