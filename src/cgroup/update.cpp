#include <signal.h>
#include <sys/time.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/apply.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/tree.hpp"

namespace tare::cgroup {
namespace {

// Signals that end a write(2) which takes too long: shrinking memory below what is in use lasts as long as the
// processes inside go on touching it.
class Alarm {
 public:
  Alarm() {
    struct sigaction action{};
    action.sa_handler = [](int) {};  // no SA_RESTART: the call returns
    ::sigaction(SIGALRM, &action, &before_);
    const itimerval timer{{0, 100'000}, {5, 0}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  Alarm(const Alarm&) = delete;
  ~Alarm() {
    const itimerval none{};
    ::setitimer(ITIMER_REAL, &none, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_{};
};

struct Known {
  const char* controller;
  const char* file;
  const char* reset = nullptr;
};

// All that apply() may write, by version. What restores them in three rounds need not stand in order.
constexpr Known kV1[] = {
    {"memory", "memory.limit_in_bytes"},
    {"memory", "memory.memsw.limit_in_bytes"},
    {"memory", "memory.soft_limit_in_bytes"},
    {"memory", "memory.kmem.limit_in_bytes"},
    {"memory", "memory.kmem.tcp.limit_in_bytes"},
    {"memory", "memory.swappiness"},
    {"memory", "memory.oom_control"},
    {"cpu", "cpu.shares"},
    {"cpu", "cpu.cfs_period_us"},
    {"cpu", "cpu.cfs_quota_us"},
    {"cpu", "cpu.cfs_burst_us"},
    {"cpu", "cpu.rt_period_us"},
    {"cpu", "cpu.rt_runtime_us"},
    {"cpu", "cpu.idle"},
    {"cpuset", "cpuset.cpus"},
    {"cpuset", "cpuset.mems"},
    {"pids", "pids.max"},
    {"blkio", "blkio.weight"},
    {"blkio", "blkio.bfq.weight"},
    {"blkio", "blkio.leaf_weight"},
    {"blkio", "blkio.weight_device", "0"},
    {"blkio", "blkio.bfq.weight_device", "0"},
    {"blkio", "blkio.leaf_weight_device", "0"},
    {"blkio", "blkio.throttle.read_bps_device", "0"},
    {"blkio", "blkio.throttle.write_bps_device", "0"},
    {"blkio", "blkio.throttle.read_iops_device", "0"},
    {"blkio", "blkio.throttle.write_iops_device", "0"},
    {"net_cls", "net_cls.classid"},
    {"net_prio", "net_prio.ifpriomap", "0"},
    {"rdma", "rdma.max", "hca_handle=max hca_object=max"},
};
constexpr Known kV2[] = {
    {"", "memory.max"},
    {"", "memory.swap.max"},
    {"", "memory.low"},
    {"", "cpu.weight"},
    {"", "cpu.max"},
    {"", "cpu.max.burst"},
    {"", "cpu.idle"},
    {"", "cpuset.cpus"},
    {"", "cpuset.mems"},
    {"", "pids.max"},
    {"", "io.weight", "default"},
    {"", "io.bfq.weight", "default"},
    {"", "io.max", "rbps=max wbps=max riops=max wiops=max"},
    {"", "rdma.max", "hca_handle=max hca_object=max"},
};

// Of "oom_kill_disable 0\nunder_oom 0\n...", the file takes the first number.
std::string writable(std::string_view path, std::string text) {
  if (!path.ends_with("memory.oom_control")) return text;
  return keyed_number(text, "oom_kill_disable").value_or(0) == 0 ? "0" : "1";
}

std::optional<std::string> look(const std::string& path) {
  try {
    auto text = try_read(path);
    if (text) text = writable(path, std::move(*text));
    return text;
  } catch (const Error&) {
    return std::nullopt;  // not to be read: nothing that a write could depend on
  }
}

std::string_view key_of(std::string_view line) { return line.substr(0, line.find(' ')); }

// A file with a line for each device: the old lines, and an end to each that is new.
void write_lines(const std::string& path, std::string_view before, std::string_view now, const char* reset) {
  const auto old = split(before, '\n');
  for (const auto line : split(now, '\n')) {
    const auto is_same = [&](std::string_view other) { return key_of(other) == key_of(line); };
    if (!line.empty() && std::none_of(old.begin(), old.end(), is_same)) try_write(path, cat(key_of(line), ' ', reset));
  }
  for (const auto line : old)
    if (!line.empty()) try_write(path, line);
}

bool is_hugepage_limit(const std::string& name) {
  return name.starts_with("hugetlb.") && (name.ends_with(".max") || name.ends_with(".limit_in_bytes"));
}

}  // namespace

void Update::note(const Location& location, const oci::Resources& resources) {
  const auto add = [&](const Entry& entry, const std::string& file, const char* reset) {
    const std::string path = cat(entry.directory(), '/', file);
    if (auto text = look(path)) before_.push_back({path, std::move(*text), reset});
  };
  for (const Entry& entry : location.entries) {
    for (const Known& known : kV2)
      if (entry.v2) add(entry, known.file, known.reset);
    for (const Known& known : kV1)
      if (!entry.v2 && location.find(known.controller) == &entry) add(entry, known.file, known.reset);
    if (!resources.hugepage_limits.empty() && location.find("hugetlb") == &entry)
      for (const std::string& name : sys::list_dir(sys::open_dir(entry.directory())))
        if (is_hugepage_limit(name) && name.find(".events") == name.npos) add(entry, name, nullptr);
    if (entry.v2)
      for (const auto& [file, value] : resources.unified)
        if (file.find('/') == file.npos) add(entry, file, nullptr);
  }
}

Update::Update(const Location& location, const oci::Resources& resources) {
  note(location, resources);
  try {
    const Alarm alarm;
    // Devices come last, since on v1 they can't be taken back.
    oci::Resources devices, others = resources;
    devices.devices = std::move(others.devices);
    others.devices.clear();
    apply(location, others, true);
    if (!devices.devices.empty()) apply(location, devices, true);
  } catch (Error& error) {
    take_back();
    if (error.errno_value() == EINTR)
      error.hint("the kernel could not bring its use below that limit within 5 s; stop its work, or pause it, first");
    throw;
  } catch (...) {
    take_back();
    throw;
  }
}

Update::~Update() { take_back(); }

// A few rounds, since the kernel wants some files to be changed before others.
void Update::take_back() noexcept {
  const Alarm alarm;
  for (int round = 0; round < 3; ++round) {
    bool all = true;
    for (const File& file : before_) {
      const auto now = look(file.path);
      if (!now || *now == file.text) continue;
      all = false;
      if (file.reset != nullptr) {
        write_lines(file.path, file.text, *now, file.reset);
      } else {
        try_write(file.path, file.text.empty() ? "\n" : std::string_view(file.text));
      }
    }
    if (all) break;
  }
  before_.clear();
}

}  // namespace tare::cgroup
