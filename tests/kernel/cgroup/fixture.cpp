#include "fixture.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::cgroup {

TestChild::TestChild(const Location& location, const std::function<int()>& f) {
  const std::vector<std::string> files = join_files(location);
  const sys::DirFd v2 = open_v2(location);
  clone_args args{};
  args.exit_signal = SIGCHLD;
  if (v2) {
    args.flags = CLONE_INTO_CGROUP;
    args.cgroup = static_cast<__u64>(v2.get());
  }
  int joined[2];
  if (::pipe2(joined, O_CLOEXEC) != 0) throw_errno("pipe2", errno);
  pid_ = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
  if (pid_ < 0) throw_errno("clone3", errno);
  if (pid_ == 0) {
    for (const std::string& name : files)
      if (try_write(name, "0") != 0) ::_exit(99);
    if (::write(joined[1], "j", 1) != 1) ::_exit(98);
    ::close(joined[1]);
    ::_exit(f());
  }
  ::close(joined[1]);
  char byte = 0;
  const ssize_t n = ::read(joined[0], &byte, 1);
  ::close(joined[0]);
  if (n != 1) throw Error(ErrorKind::bug, "the test's child did not join");
}

TestChild::~TestChild() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

int TestChild::wait() {
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) throw_errno("waitpid", errno);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int sleep_forever() {
  while (true) ::pause();
}

void CgroupTest::SetUp() {
  ASSERT_EQ(::geteuid(), 0U) << "these tests make cgroups: run them as root";
  cgroups_ = host::cgroups();
  ASSERT_NE(cgroups_.layout, facts::CgroupLayout::none) << "no cgroups are mounted";
  top_ = cat("tare-test-", ::getpid());
}

void CgroupTest::TearDown() {
  // Backwards: the first one made the top.
  for (; !made_.empty(); made_.pop_back()) {
    kill_all(made_.back());
    remove(made_.back());
  }
  for (const facts::Hierarchy& hierarchy : cgroups_.hierarchies) {
    const std::string top = cat(hierarchy.mount_point, '/', top_);
    EXPECT_FALSE(exists(top)) << hierarchy.mount_point << " keeps " << top_;
    ::rmdir(top.c_str());  // so that the next test starts clean
  }
}

Location CgroupTest::make(const oci::Resources* resources, const std::string& name) {
  Location location = locate(cgroups_, cat('/', top_, '/', name), "id", resources);
  create(location);
  made_.push_back(location);
  return location;
}

std::string CgroupTest::file(const Location& location, std::string_view controller, std::string_view name) {
  return read(cat(location.find(controller)->directory(), '/', name));
}

}  // namespace tare::cgroup
