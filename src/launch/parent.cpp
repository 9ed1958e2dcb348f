// The parent's side of a start; protocol.hpp draws what is said.
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "base/error.hpp"
#include "base/text.hpp"
#include "launch/child.hpp"
#include "launch/launch.hpp"
#include "sys/raw.hpp"

namespace tare::launch {
namespace {

// Stacks of the children, which run while this thread goes on: one start at a time.
constexpr std::size_t kStack = 512 * 1024;
alignas(4096) char child_stack[kStack];

// What both see. With shared memory any memory will do; else it must be mapped as shared.
alignas(Shared) char static_pages[16384];

class SharedPages {
 public:
  SharedPages(std::size_t n_operations, bool memory_is_shared)
      : size_(sizeof(Shared) + n_operations * sizeof(std::uint64_t)),
        mapped_(!memory_is_shared || size_ > sizeof static_pages),
        // A child that waits for start still writes there when we are done.
        unmap_(!memory_is_shared) {
    if (mapped_)
      map();
    else
      shared_ = new (static_pages) Shared{};
    shared_->n_ticks = static_cast<std::uint32_t>(n_operations);
    shared_->pidfd = -1;
    for (std::size_t i = 0; i < n_operations; ++i) shared_->ticks[i] = 0;
  }
  SharedPages(const SharedPages&) = delete;
  ~SharedPages() {
    if (mapped_ && unmap_) ::munmap(shared_, size_);
  }
  Shared& operator*() { return *shared_; }
  Shared* operator->() { return shared_; }
  Shared* get() { return shared_; }

 private:
  void map() {
    void* pages = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw_errno("mmap", errno);
    shared_ = static_cast<Shared*>(pages);
  }
  std::size_t size_;
  bool mapped_, unmap_;
  Shared* shared_ = nullptr;
};

std::uint64_t now_nanoseconds() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

// Opens what the config names and makes sure that it is what the config says it is.
std::vector<sys::Fd> open_joins(const plan::Plan& plan, std::vector<JoinFd>& joins) {
  std::vector<sys::Fd> fds;
  for (std::uint32_t i = 0; i < plan.joins.size(); ++i) {
    const auto& join = plan.joins[i];
    with_intent(join.field, [&] {
      fds.push_back(sys::open(join.path, O_RDONLY | O_NONBLOCK));
      const int type = ::ioctl(fds.back().get(), NS_GET_NSTYPE);
      if (type < 0) throw Error(ErrorKind::invalid_spec, cat(join.path, " is not a namespace"));
      if (type != join.clone_flag)
        throw Error(ErrorKind::invalid_spec, cat(join.path, " is a namespace of another type"));
    });
    joins.push_back({fds.back().get(), join.clone_flag, i, false});
  }
  return fds;
}

class Launch {
 public:
  Launch(const plan::Plan& plan, const Request& request)
      : plan_(plan),
        request_(request),
        shared_(plan.outer.size() + plan.ops.size() + 1,
                plan.share_memory && plan.joins.empty() && request.target_pidfd < 0) {}

  Started run();

 private:
  void make_channel();
  void fill_context();
  void clone_child();
  void clone_directly(clone_args& args);
  void clone_through_joiner(clone_args& args);
  bool converse();
  void grant();
  [[noreturn]] void throw_death();
  [[noreturn]] void throw_message(const Message& message);
  std::string describe_index(std::uint32_t index) const;

  const plan::Plan& plan_;
  const Request& request_;
  SharedPages shared_;
  ChildContext context_{};
  std::vector<JoinFd> joins_;
  std::vector<int> slots_;
  sys::Fd channel_, childs_end_;
  sys::Child child_;
};

void Launch::make_channel() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) throw_errno("socketpair", errno);
  channel_ = sys::Fd(pair[0]);
  childs_end_ = sys::Fd(pair[1]);
}

void Launch::fill_context() {
  context_.outer = plan_.outer.data();
  context_.n_outer = static_cast<std::uint32_t>(plan_.outer.size());
  context_.ops = plan_.ops.data();
  context_.n_ops = static_cast<std::uint32_t>(plan_.ops.size());
  context_.joins = joins_.data();
  context_.n_joins = static_cast<std::uint32_t>(joins_.size());
  context_.channel = childs_end_.get();
  context_.parents_end = channel_.get();
  context_.start_fifo = request_.start_fifo;
  context_.result_fifo = request_.result_fifo;
  context_.preserve_fds = request_.preserve_fds;
  context_.shared = shared_.get();
  slots_.assign(static_cast<std::size_t>(plan_.n_slots) + 1, -1);
  context_.state.slots = slots_.data();
}

void Launch::clone_directly(clone_args& args) {
  const long pid = sys::raw::clone3(&args, sizeof args, child_main, &context_);
  if (pid < 0) throw_errno("clone3", static_cast<int>(-pid));
  child_ = sys::Child(static_cast<pid_t>(pid), sys::Fd(shared_->pidfd));
}

void Launch::clone_through_joiner(clone_args& args) {
  context_.clone_args = &args;
  clone_args joiner{};
  // A copy of memory and of descriptors: the process proper may be born among others who may trace it
  // (CAP_SYS_PTRACE), and what is ours is not to be had through it. The joiner closes what it needn't have.
  joiner.flags = CLONE_CLEAR_SIGHAND;
  joiner.exit_signal = SIGCHLD;
  args.flags &= ~static_cast<__u64>(CLONE_PIDFD | CLONE_VM);
  args.stack = args.stack_size = 0;
  if (request_.cgroup_fd >= 0) {
    joiner.flags |= CLONE_INTO_CGROUP;
    joiner.cgroup = static_cast<__u64>(request_.cgroup_fd);
    args.flags &= ~static_cast<__u64>(CLONE_INTO_CGROUP);
  }
  const long pid = sys::raw::clone3(&joiner, sizeof joiner, joiner_main, &context_);
  if (pid < 0) throw_errno("clone3", static_cast<int>(-pid));
  sys::Child first(static_cast<pid_t>(pid), sys::Fd());
  const auto status = first.wait();
  if (shared_->pid == 0) {
    childs_end_.reset();
    Message message{};
    if (::recv(channel_.get(), &message, sizeof message, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof message))
      throw_message(message);
    throw Error(ErrorKind::child, cat("the process that joins namespaces died (", status.as_shell(), ")"));
  }
  // Our child that nobody has waited for: its number can't be anybody else's.
  child_ = sys::Child(shared_->pid, sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, shared_->pid, 0))));
}

void Launch::clone_child() {
  clone_args args{};
  args.flags = static_cast<__u64>(plan_.clone_flags) | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  if (plan_.share_memory) args.flags |= CLONE_VM;
  args.pidfd = reinterpret_cast<__u64>(&shared_->pidfd);
  args.exit_signal = SIGCHLD;
  if (plan_.share_memory) {
    args.stack = reinterpret_cast<__u64>(child_stack);
    args.stack_size = kStack;
  }
  if (request_.cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<__u64>(request_.cgroup_fd);
  }
  const auto fds = open_joins(plan_, joins_);
  if (request_.target_pidfd >= 0) joins_.push_back({request_.target_pidfd, request_.target_namespaces, 0, false});
  fill_context();
  if (joins_.empty())
    clone_directly(args);
  else
    clone_through_joiner(args);
  childs_end_.reset();
}

void Launch::grant() {
  const Message go{Kind::go, 0, plan::Code::exec_program, 0, {}, {}, {}};
  if (::send(channel_.get(), &go, sizeof go, MSG_NOSIGNAL) < 0 && errno != EPIPE) throw_errno("send", errno);
}

std::string Launch::describe_index(std::uint32_t index) const {
  if (index < plan_.outer.size()) return plan::describe(plan_.outer[index]);
  if (index - plan_.outer.size() < plan_.ops.size()) return plan::describe(plan_.ops[index - plan_.outer.size()]);
  const std::uint32_t join = ~0U - index;
  if (join < plan_.joins.size()) return cat(plan_.joins[join].field, ": join ", quoted(plan_.joins[join].path));
  return "enter the container's namespaces";
}

void Launch::throw_message(const Message& message) { throw_failure(message, describe_index(message.op)); }

void Launch::throw_death() {
  const auto status = child_.wait();
  if (status.signalled && status.value == SIGKILL)
    throw Error(ErrorKind::child, "the container's process was killed while it was set up")
        .hint("a limit in linux.resources.memory may be too small to set a container up in");
  throw Error(ErrorKind::child,
              status.signalled
                  ? cat("the container's process was killed by signal ", status.value, " while it was set up")
                  : cat("the container's process ended with status ", status.value, " while it was set up"));
}

// Until exec, or until the child waits for start. True where `ready` was said.
bool Launch::converse() {
  bool ready = false;
  while (true) {
    Message message{};
    iovec bytes{&message, sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr header{};
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t n = ::recvmsg(channel_.get(), &header, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno("recvmsg", errno);
    if (n == 0) return ready;
    switch (message.kind) {
      case Kind::maps_wanted:
        write_id_maps(child_.pid(), plan_.uid_mappings, plan_.gid_mappings);
        grant();
        break;
      case Kind::hooks_wanted:
        if (request_.on_hooks) request_.on_hooks(child_.pid());
        grant();
        break;
      case Kind::console: {
        int fd = -1;
        const cmsghdr* rights = CMSG_FIRSTHDR(&header);
        if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
        sys::Fd master(fd);
        if (request_.on_console) request_.on_console(std::move(master));
        break;
      }
      case Kind::ready:
        ready = true;
        break;
      default:
        throw_message(message);
    }
  }
}

Started Launch::run() {
  make_channel();
  const std::uint64_t counter_before = read_counter();
  const std::uint64_t time_before = now_nanoseconds();
  clone_child();
  if (request_.on_cloned) request_.on_cloned(child_.pid());
  __atomic_store_n(&shared_->recorded, 1U, __ATOMIC_RELEASE);
  if (!converse()) throw_death();
  // The clock's unit, from the launch itself: no other calibration is needed.
  const std::uint64_t counter_after = read_counter();
  const double unit =
      static_cast<double>(now_nanoseconds() - time_before) / static_cast<double>(counter_after - counter_before);
  Started started;
  started.child = std::move(child_);
  const std::size_t n = plan_.outer.size() + plan_.ops.size();
  for (std::size_t i = 0; i < n && shared_->ticks[i] != 0; ++i) {
    const std::uint64_t next = i + 1 < n && shared_->ticks[i + 1] != 0 ? shared_->ticks[i + 1] : counter_after;
    started.operation_nanoseconds.push_back(
        static_cast<std::uint64_t>(static_cast<double>(next - shared_->ticks[i]) * unit));
  }
  return started;
}

}  // namespace

Started start(const plan::Plan& plan, const Request& request) {
  auto launch = std::make_unique<Launch>(plan, request);
  Started started = launch->run();
  // A child that waits for start goes on to use what this holds, after the caller has gone.
  if (request.start_fifo >= 0) {
    [[maybe_unused]] const auto* kept = launch.release();
  }
  return started;
}

}  // namespace tare::launch
