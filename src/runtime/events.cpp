#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/oom.hpp"
#include "runtime/container.hpp"

namespace tare::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// A container may fill its network namespace with devices.
constexpr std::size_t kMostNetDev = 1 << 20;

// The counts of the devices, where they are the container's own. `process`: its first one's folder in /proc.
std::vector<NetworkCounts> network_of(const sys::DirFd& process) {
  try {
    char own[64]{}, its[64]{};
    if (::readlink("/proc/self/ns/net", own, sizeof own - 1) < 0 ||
        ::readlinkat(process.get(), "ns/net", its, sizeof its - 1) < 0 || std::string_view(own) == its)
      return {};
    return parse_net_dev(sys::read_file_at(process, "net/dev", kMostNetDev));
  } catch (const Error&) {
    return {};  // it has ended meanwhile, or has too many
  }
}

class Watcher {
 public:
  Watcher(const Found& found, const OnEvent& on_event)
      : held_(held_cgroups(found)),
        pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, found.init->pid, 0))),
        process_(sys::open_dir(cat("/proc/", found.init->pid))),
        on_event_(on_event) {
    // Now both are that very process's.
    if (!pidfd_ || !found.init->alive())
      throw Error(ErrorKind::conflict, cat("container with id ", found.record->id, " is not running"));
  }

  void tell_counts() {
    Event event;
    held_.use([&](const cgroup::Location& cgroups) { event.usage = cgroup::usage(cgroups); });
    event.network = network_of(process_);
    on_event_(event);
  }

  void follow(std::chrono::milliseconds interval) {
    cgroup::OomWatch oom(held_.location());
    auto next = Clock::now() + interval;
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
      pollfd waits[] = {{pidfd_.get(), POLLIN, 0}, {oom.fd(), oom.poll_events(), 0}};
      const int timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
      if (::poll(waits, 2, timeout) < 0 && errno != EINTR) throw_errno("poll", errno);
      if (oom.happened()) on_event_({true, {}, {}});
      if (waits[0].revents != 0) return;
      if (Clock::now() < next) continue;
      tell_counts();
      // Not made up for: a reader that is slow gets fewer.
      next = std::max(next + interval, Clock::now());
    }
  }

 private:
  cgroup::Pinned held_;
  sys::Fd pidfd_;
  sys::DirFd process_;
  const OnEvent& on_event_;
};

}  // namespace

std::vector<NetworkCounts> parse_net_dev(std::string_view text) {
  std::vector<NetworkCounts> all;
  for (const auto line : split(text, '\n')) {
    const std::size_t colon = line.rfind(':');  // a name may hold one
    if (colon == line.npos) continue;           // the two lines of the header
    std::vector<std::uint64_t> numbers;
    for (const auto word : split(line.substr(colon + 1), ' '))
      if (!word.empty()) numbers.push_back(parse_number<std::uint64_t>(word).value_or(0));
    if (numbers.size() < 12) continue;
    NetworkCounts counts;
    counts.name = trim(line.substr(0, colon));
    // The container chooses names, and JSON is UTF-8.
    for (char& c : counts.name)
      if (c <= ' ' || c > '~') c = '?';
    counts.rx_bytes = numbers[0];
    counts.rx_packets = numbers[1];
    counts.rx_errors = numbers[2];
    counts.rx_dropped = numbers[3];
    counts.tx_bytes = numbers[8];
    counts.tx_packets = numbers[9];
    counts.tx_errors = numbers[10];
    counts.tx_dropped = numbers[11];
    all.push_back(std::move(counts));
  }
  return all;
}

void events(const Context& context, const std::string& id, bool once, std::chrono::milliseconds interval,
            const OnEvent& on_event) {
  with_intent(cat("events ", id), [&] {
    const Found found = find(context, id, false);
    const auto status = found.status();
    if (status == Status::stopped || status == Status::creating)
      throw Error(ErrorKind::conflict, cat("container with id ", id, " is not running"));
    Watcher watcher(found, on_event);
    once ? watcher.tell_counts() : watcher.follow(interval);
  });
}

}  // namespace tare::runtime
