#include "lab/observe/trace.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::lab {

namespace {

constexpr std::size_t kPages = 512;  // of the ring, a power of two

long open_event(perf_event_attr& attr, pid_t pid, int cpu) {
  return syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

sys::Fd mount_tracefs() {
  const sys::Fd context(static_cast<int>(syscall(SYS_fsopen, "tracefs", 1)));  // FSOPEN_CLOEXEC
  if (!context) throw_errno("fsopen tracefs", errno);
  if (syscall(SYS_fsconfig, context.get(), 6, nullptr, nullptr, 0) < 0)
    throw_errno("fsconfig tracefs", errno);  // CMD_CREATE
  sys::Fd mounted(static_cast<int>(syscall(SYS_fsmount, context.get(), 1, 0)));
  if (!mounted) throw_errno("fsmount tracefs", errno);
  return mounted;
}

std::vector<std::pair<std::uint64_t, std::string>> read_symbols() {
  std::vector<std::pair<std::uint64_t, std::string>> out;
  const std::string text = sys::read_file("/proc/kallsyms", 64 << 20);
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = split(line, ' ');
    if (parts.size() < 3 || (parts[1] != "t" && parts[1] != "T")) continue;
    const std::string address(parts[0]);
    const std::uint64_t at = std::strtoull(address.c_str(), nullptr, 16);
    if (at != 0) out.emplace_back(at, std::string(parts[2].substr(0, parts[2].find('\t'))));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The ring of one event's samples, read when a batch is over.
class Ring {
 public:
  explicit Ring(int fd) : size_((kPages + 1) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory_ == MAP_FAILED) throw_errno("mmap of a perf event", errno);
  }
  ~Ring() { munmap(memory_, size_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Calls seen(words) for each sample since the last time, with what follows its header in words of 8 bytes.
  // Gives the number of those that were lost.
  template <class Seen>
  std::int64_t read(Seen&& seen) {
    auto* const page = static_cast<perf_event_mmap_page*>(memory_);
    const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    const char* const data = static_cast<const char*>(memory_) + page->data_offset;
    std::vector<std::uint64_t> words;
    std::int64_t lost = 0;
    while (at_ + sizeof(perf_event_header) <= head) {
      perf_event_header header{};
      copy(&header, data, at_, sizeof header, page->data_size);
      if (header.size < sizeof header) break;
      words.resize((header.size - sizeof header) / sizeof(std::uint64_t));
      copy(words.data(), data, at_ + sizeof header, words.size() * sizeof(std::uint64_t), page->data_size);
      if (header.type == PERF_RECORD_SAMPLE) seen(words);
      if (header.type == PERF_RECORD_LOST && words.size() > 1) lost += static_cast<std::int64_t>(words[1]);
      at_ += header.size;
    }
    at_ = head;
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    return lost;
  }

 private:
  static void copy(void* to, const char* data, std::uint64_t at, std::size_t n, std::uint64_t size) {
    for (std::size_t i = 0; i < n; ++i) static_cast<char*>(to)[i] = data[(at + i) % size];
  }
  std::size_t size_;
  std::uint64_t at_ = 0;
  void* memory_;
};

std::string listed(const std::map<std::string, std::int64_t>& counts) {
  std::string out;
  for (const auto& [name, n] : counts) {
    if (n > 0) out += cat(out.empty() ? "" : ", ", name, " ", n);
  }
  return out;
}

sys::Fd open_tracepoint(std::int64_t id, pid_t pid, int cpu, bool samples) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.config = static_cast<std::uint64_t>(id);
  attr.inherit = 1;
  if (samples) {
    attr.sample_period = 1;
    attr.sample_type = PERF_SAMPLE_RAW;
    attr.disabled = 1;
  }
  sys::Fd fd(static_cast<int>(open_event(attr, pid, cpu)));
  if (!fd) throw_errno("perf_event_open", errno);
  return fd;
}

sys::Fd open_clock(pid_t pid, int cpu) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 50'000;  // ns
  attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  attr.exclude_callchain_user = 1;
  attr.inherit = 1;
  attr.disabled = 1;
  sys::Fd fd(static_cast<int>(open_event(attr, pid, cpu)));
  if (!fd) throw_errno("perf_event_open cpu-clock", errno);
  return fd;
}

}  // namespace

using Counts = std::map<std::string, std::int64_t>;

class Trace {
 public:
  Trace(Tracer& tracer, pid_t worker, std::string name, const Layer& layer)
      : tracer_(tracer),
        name_(std::move(name)),
        layer_(layer),
        calls_(open_tracepoint(tracer.event_id(kCallEvent), worker, tracer.cpu_, true)),
        clock_(open_clock(worker, tracer.cpu_)),
        call_ring_(calls_.get()),
        clock_ring_(clock_.get()) {
    for (const char* point : layer.tracepoints) {
      const std::int64_t id = tracer.event_id(point);
      if (id >= 0) points_.emplace_back(point, open_tracepoint(id, worker, -1, false));
    }
  }
  std::vector<Evidence> of(const Tracer::Work& work);
  static constexpr const char* kCallEvent = "raw_syscalls/sys_enter";

 private:
  struct Seen {
    std::map<long, std::int64_t> calls;
    Counts points;
    std::int64_t lost = 0;
  };
  Seen batch(const std::function<void()>& run);
  Counts chains(const std::function<void()>& run, std::int64_t& all);

  Tracer& tracer_;
  std::string name_;
  const Layer& layer_;
  sys::Fd calls_, clock_;
  Ring call_ring_, clock_ring_;
  std::vector<std::pair<std::string, sys::Fd>> points_;
};

Trace::Seen Trace::batch(const std::function<void()>& run) {
  const auto values = [&] {
    Counts out;
    for (const auto& [point, fd] : points_) {
      std::int64_t n = 0;
      if (read(fd.get(), &n, sizeof n) == sizeof n) out[point] = n;
    }
    return out;
  };
  (void)call_ring_.read([](const auto&) {});
  const Counts before = values();
  ioctl(calls_.get(), PERF_EVENT_IOC_ENABLE, 0);
  run();
  ioctl(calls_.get(), PERF_EVENT_IOC_DISABLE, 0);
  Seen out;
  out.points = values();
  for (auto& [point, n] : out.points) n -= before.at(point);
  // PERF_SAMPLE_RAW: its size in 4 bytes, then the record: 8 bytes of the common part, the number, the arguments.
  out.lost = call_ring_.read([&](const std::vector<std::uint64_t>& words) {
    if (words.size() < 3) return;
    const std::uint64_t number = (words[1] >> 32) | (words[2] << 32);
    ++out.calls[static_cast<long>(number)];
  });
  return out;
}

Counts Trace::chains(const std::function<void()>& run, std::int64_t& all) {
  (void)clock_ring_.read([](const auto&) {});
  ioctl(clock_.get(), PERF_EVENT_IOC_ENABLE, 0);
  run();
  ioctl(clock_.get(), PERF_EVENT_IOC_DISABLE, 0);
  Counts out;
  all = 0;
  clock_ring_.read([&](const std::vector<std::uint64_t>& words) {
    ++all;
    std::set<std::string> seen;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] >= static_cast<std::uint64_t>(PERF_CONTEXT_MAX)) continue;
      const std::string& name = tracer_.function_at(words[i]);
      for (const char* wanted : layer_.functions) {
        if (name == wanted) seen.insert(name);
      }
    }
    for (const std::string& name : seen) ++out[name];
  });
  return out;
}

std::vector<Evidence> Trace::of(const Tracer::Work& work) {
  const std::int64_t n = std::clamp<std::int64_t>(work.count / 8, 1, 1000);
  const Seen once = batch([&] { work.run(n); });
  Seen more = batch([&] { work.run(2 * n); });
  // Less than one in a hundred operations is what a machine does anyway.
  const auto left = [&](std::int64_t m, std::int64_t o) { return m - o < 1 || (m - o) * 100 < n ? 0 : m - o; };
  for (auto& [number, c] : more.calls) {
    const auto found = once.calls.find(number);
    c = left(c, found == once.calls.end() ? 0 : found->second);
  }
  for (auto& [point, c] : more.points) c = left(c, once.points.at(point));
  const double a_second = 1e9 / work.operation_ns / static_cast<double>(n);
  const auto of_calls = [&](const std::vector<const char*>& names, Counts& parts) {
    std::int64_t total = 0;
    for (const auto& [number, c] : more.calls) {
      const std::string name = call_name(number);
      const bool wanted =
          std::any_of(names.begin(), names.end(), [&](std::string_view one) { return one == "*" || one == name; });
      if (!wanted || c == 0) continue;
      parts[name] += c;
      total += c;
    }
    return static_cast<double>(total) * a_second;
  };
  std::vector<Evidence> out;
  Counts parts, others;
  const double by_calls = of_calls(layer_.calls, parts);
  const bool might = of_calls(layer_.perhaps, others) > 0;
  std::string what = listed(parts);
  if (might) what += cat(what.empty() ? "" : "; ", "perhaps by ", listed(others));
  const bool whole = once.lost == 0 && more.lost == 0;
  what += cat(what.empty() ? "none" : "", " in ", n, " operations", whole ? "" : ", some were lost");
  out.push_back({work.workload, name_, "system calls", by_calls, whole && !might && !layer_.by_itself, what});
  if (!points_.empty()) {
    std::int64_t total = 0;
    for (const auto& [point, c] : more.points) total += c;
    out.push_back({work.workload, name_, "tracepoints", static_cast<double>(total) * a_second, layer_.tracepoints_tell,
                   cat(total == 0 ? "none" : listed(more.points), " in ", n, " operations")});
  }
  std::int64_t all = 0;
  const Counts functions = chains([&] { work.run(work.count); }, all);
  std::int64_t most = 0;
  for (const auto& [name, hits] : functions) most = std::max(most, hits);
  // A share of samples says how long, not how often; as a rate it is that of the samples taken inside.
  const double seconds = work.operation_ns * static_cast<double>(work.count) / 1e9;
  out.push_back({work.workload, name_, "call chains", static_cast<double>(most) / seconds, false,
                 cat(functions.empty() ? "none" : listed(functions), " of ", all, " samples")});
  return out;
}

Tracer::Tracer(int cpu) : cpu_(cpu), tracefs_(mount_tracefs()), symbols_(read_symbols()) {
  if (event_id(Trace::kCallEvent) < 0) throw Error(ErrorKind::unsupported, "the kernel has no system call tracepoints");
}

Tracer::~Tracer() = default;

std::int64_t Tracer::event_id(const std::string& event) {
  const auto [found, fresh] = ids_.try_emplace(event, -1);
  if (!fresh) return found->second;
  const sys::Fd file(openat(tracefs_.get(), cat("events/", event, "/id").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return -1;
  if (const auto id = parse_number<std::int64_t>(trim(sys::read_all(file, 64)))) {
    found->second = *id;
    held_.push_back(open_tracepoint(*id, 0, -1, false));
  }
  return found->second;
}

const std::string& Tracer::function_at(std::uint64_t address) const {
  static const std::string none;
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](std::uint64_t a, const auto& symbol) { return a < symbol.first; });
  return after == symbols_.begin() ? none : std::prev(after)->second;
}

void Tracer::watch(pid_t worker, std::string_view layer_name) {
  trace_.reset();
  const Layer* const layer = find_layer(layer_name);
  if (layer != nullptr) trace_ = std::make_unique<Trace>(*this, worker, std::string(layer_name), *layer);
}

std::vector<Evidence> Tracer::trace(const Work& work) { return trace_ ? trace_->of(work) : std::vector<Evidence>{}; }

}  // namespace tare::lab
