// Every workload, in this process: that it does what it counts, and that it says so where it can't.
#include "lab/work/workload.hpp"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>

#include "lab/work/folder.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {
namespace {

// The workloads that execute tare-work by its descriptor execute this program here, which then plays it.
__attribute__((constructor)) void as_tare_work(int argc, char** argv) {
  if (argc < 1 || std::strcmp(argv[0], "tare-work") != 0) return;
  if (argc == 2 && std::strcmp(argv[1], "exit") == 0) _exit(0);
  _exit(script_main(argc, argv));
}

class Program {
 public:
  Program() {
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    kept_ = fcntl(kProgramFd, F_DUPFD_CLOEXEC, 100);
    dup2(fd, kProgramFd);
    if (fd != kProgramFd) close(fd);
    fcntl(kProgramFd, F_SETFD, 0);  // a script's programs have it too
  }
  ~Program() {
    kept_ < 0 ? close(kProgramFd) : dup2(kept_, kProgramFd);
    if (kept_ >= 0) close(kept_);
  }

 private:
  int kept_;
};

// In a child, so that what it changes in a process is gone with that; gives what the child found wrong.
std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "pipe2";
  for (int& end : ends) {  // away from the numbers that workers have theirs by
    const int high = fcntl(end, F_DUPFD_CLOEXEC, 110);
    close(end);
    end = high;
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 1);  // where workers have it
    const std::string wrong = body();
    (void)!write(ends[1], wrong.data(), wrong.size());
    _exit(0);
  }
  close(ends[1]);
  std::string wrong(4096, '\0');
  const ssize_t n = read(ends[0], wrong.data(), wrong.size());
  close(ends[0]);
  wrong.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? wrong : wrong + " status " + std::to_string(status);
}

std::string text(const Fault& fault) {
  if (fault.step == nullptr) return "";
  return std::string(fault.step) + " " + std::to_string(fault.errno_value) + " " + std::to_string(fault.status);
}

Fault run(const char* name, std::int64_t count, RunResult& result) {
  const Run workload = find_workload(name);
  return workload == nullptr ? Fault{"none-of-that-name"} : workload(Batch{count, 0}, result);
}

// "STEP ERRNO STATUS" of one operation, in a process that `spoil` has changed.
std::string fault_after(const char* name, const std::function<void()>& spoil, std::int64_t count = 1) {
  return in_child([&] {
    spoil();
    RunResult result;
    return text(run(name, count, result));
  });
}

std::string with_errno(const char* step, int value) { return std::string(step) + " " + std::to_string(value) + " 0"; }

int descriptors() {
  int open_ones = 0;
  for (int fd = 0; fd < 200; ++fd) open_ones += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return open_ones;
}

class Each : public testing::TestWithParam<const char*> {};

TEST_P(Each, DoesWhatItCountsAndLeavesNothing) {
  const std::string wrong = in_child([] {
    if (chdir("/") != 0) return std::string("chdir");  // so that files lie in /tmp
    const Program program;
    const int before = descriptors();
    for (const std::int64_t count : {1, 3, 40}) {
      RunResult result;
      const Fault fault = run(GetParam(), count, result);
      if (fault.step != nullptr) return text(fault);
      if (result.count != count) return "count " + std::to_string(result.count);
      if (result.wall_ns <= 0 || result.cpu_ns < 0) return std::string("no time");
    }
    if (descriptors() != before) return std::string("a descriptor is left open");
    if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return std::string("a child is left");
    char name[64];
    name_of(owner(), name);
    for (const char* folder : {"/tmp", "/dev/shm", "."}) {
      if (access((folder + std::string(name)).c_str(), F_OK) == 0) return std::string("a file is left in ") + folder;
    }
    if (msgget(ipc_key(owner()), 0) >= 0 || semget(ipc_key(owner()), 0, 0) >= 0) return std::string("ipc is left");
    return std::string();
  });
  EXPECT_EQ(wrong, "");
}

TEST_P(Each, EndsByTheClockWhereAsked) {
  const std::string wrong = in_child([] {
    const Program program;  // files lie in the working directory here
    RunResult result;
    const Fault fault = find_workload(GetParam())(Batch{INT64_MAX, 0, 2'000'000}, result);
    if (fault.step != nullptr) return text(fault);
    return result.count > 0 && result.wall_ns >= 2'000'000 ? std::string() : std::to_string(result.count);
  });
  EXPECT_EQ(wrong, "");
}

std::vector<const char*> all_names() {
  std::vector<const char*> names;
  for (const Entry& entry : workloads()) names.push_back(entry.name.data());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Workload, Each, testing::ValuesIn(all_names()), [](const auto& one) {
  std::string name = one.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Table, NamesAreWordsAndNoneIsThereTwice) {
  std::set<std::string> names;
  for (const Entry& entry : workloads()) {
    EXPECT_TRUE(names.insert(std::string(entry.name)).second) << entry.name;
    EXPECT_EQ(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
    EXPECT_EQ(find_workload(entry.name), entry.run);
  }
  EXPECT_EQ(find_workload("command"), nullptr);
  EXPECT_EQ(find_workload(""), nullptr);
}

TEST(Repeat, CallsEachOperationOnceAndStopsAtAFault) {
  RunResult result;
  int called = 0;
  EXPECT_EQ(text(repeat(Batch{10, 0}, result, 4,
                        [&]() noexcept -> Fault {
                          ++called;
                          return {};
                        })),
            "");
  EXPECT_EQ(called, 10);
  EXPECT_EQ(result.count, 10);
  EXPECT_EQ(text(repeat(Batch{10, 0}, result, 4,
                        [&]() noexcept -> Fault {
                          if (++called == 16) return {"sixth", 5};
                          return {};
                        })),
            "sixth 5 0");
  EXPECT_EQ(called, 16);
}

TEST(Repeat, ADelayMakesABatchLongerByItsShare) {
  RunResult result;
  std::int64_t working = 0;
  const auto work = [&]() noexcept -> Fault {
    const std::int64_t begin = monotonic_ns();
    while (monotonic_ns() < begin + 1'000'000) {
    }
    working += monotonic_ns() - begin;
    return {};
  };
  ASSERT_EQ(text(measure(Batch{10, 10'000}, result, 1, work)), "");
  EXPECT_GE(result.wall_ns, 2 * working);  // 100 %: waits as long as it works
}

// What makes the failing paths: no descriptor, no process, no memory, no file system to write to.
const auto no_descriptors = [] {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
};

TEST(Failing, WithoutDescriptorsTheStepIsNamed) {
  for (const auto& [name, step] :
       std::initializer_list<std::pair<const char*, const char*>>{{"pipe", "pipe2"},
                                                                  {"open", "open"},
                                                                  {"unix-rr", "socketpair"},
                                                                  {"unix-stream", "socketpair"},
                                                                  {"unix-connect", "socket"},
                                                                  {"tcp-rr", "socket"},
                                                                  {"tcp-stream", "socket"},
                                                                  {"tcp-connect", "socket"},
                                                                  {"udp-rr", "socket"},
                                                                  {"udp-stream", "socket"},
                                                                  {"copy-256", "open"},
                                                                  {"stat-1", "open"},
                                                                  {"create-16", "open"},
                                                                  {"proc-walk", "open"},
                                                                  {"cgroup-file", "open"},
                                                                  {"posix-mq", "mq_open"},
                                                                  {"mq-open", "mq_open"},
                                                                  {"posix-shm", "shm_open"}}) {
    EXPECT_EQ(fault_after(name, no_descriptors), with_errno(step, EMFILE)) << name;
  }
}

TEST(Failing, WithoutProcessesTheForkIsNamed) {
  const auto no_processes = [] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NPROC, &none);
    if (setresuid(54321, 54321, 54321) != 0) _exit(99);  // root isn't counted
  };
  for (const char* name : {"spawn", "exec-fork", "pipe", "switch", "signal-pair", "unix-rr", "posix-sem"}) {
    EXPECT_EQ(fault_after(name, no_processes), with_errno("fork", EAGAIN)) << name;
  }
  for (const char* name : {"exec", "script1", "sh1", "ps"}) {
    EXPECT_EQ(fault_after(name, no_processes), with_errno("vfork", EAGAIN)) << name;
  }
}

TEST(Failing, WithoutMemoryTheMappingIsNamed) {
  const auto no_memory = [] {
    const rlimit none{4096, 4096};
    setrlimit(RLIMIT_AS, &none);
  };
  for (const char* name : {"mmap", "fault", "switch", "posix-sem"}) {
    EXPECT_EQ(fault_after(name, no_memory), with_errno("mmap", ENOMEM)) << name;
  }
}

TEST(Failing, WithoutRootTheRightsAreNamed) {
  const auto nobody = [] {
    if (setresuid(54321, 54321, 54321) != 0) _exit(99);
  };
  EXPECT_EQ(fault_after("sethostname", nobody), with_errno("sethostname", EPERM));
  EXPECT_EQ(fault_after("seteuid", nobody), with_errno("setresuid", EPERM));
}

TEST(Failing, AProgramThatIsNotThereIsToldByItsStatus) {
  const auto not_a_program = [] {
    const int fd = open("/dev/null", O_RDONLY);
    dup2(fd, kProgramFd);
  };
  for (const char* name : {"exec", "exec-fork"}) {
    EXPECT_EQ(fault_after(name, not_a_program), "execveat 0 " + std::to_string(127 << 8)) << name;
  }
  EXPECT_EQ(fault_after("script8", not_a_program), "script 0 " + std::to_string(127 << 8));
  EXPECT_EQ(fault_after("ps", [] { setenv("PATH", "/nowhere", 1); }), "ps 0 " + std::to_string(127 << 8));
}

TEST(Failing, AScriptWhoseStepFailsFails) {
  // Its programs can't be executed: the script itself runs in this process.
  const std::string wrong = in_child([] {
    char name[] = "tare-work", word[] = "script";
    char* argv[] = {name, word, nullptr};
    close(kProgramFd);
    return std::to_string(script_main(2, argv));
  });
  EXPECT_EQ(wrong, "3");
  char name[] = "tare-work", word[] = "serve";
  char* argv[] = {name, word, nullptr};
  EXPECT_EQ(script_main(2, argv), -1);
  EXPECT_EQ(script_main(1, argv), -1);
}

TEST(Failing, WhereNothingCanBeWrittenTheFilesAreToldSo) {
  const auto read_only = [] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", "/tmp", "tmpfs", MS_RDONLY, nullptr) != 0 || chdir("/") != 0) {
      _exit(99);
    }
  };
  EXPECT_EQ(fault_after("copy-256", read_only), with_errno("open", EROFS));
  EXPECT_EQ(fault_after("stat-4", read_only), with_errno("mkdir", EROFS));
  EXPECT_EQ(fault_after("open", read_only), "");
}

TEST(Failing, CommandsAreToldByTheirStatus) {
  const auto told = [](std::vector<const char*> words) {
    words.push_back(nullptr);
    const Command command{"command", const_cast<char**>(words.data()), environ};
    RunResult result;
    Batch batch{1, 0};
    batch.command = &command;
    return text(run_command(batch, result));
  };
  EXPECT_EQ(told({"true"}), "");
  EXPECT_EQ(told({"sh", "-c", "exit 3"}), "command 0 " + std::to_string(3 << 8));
  EXPECT_EQ(told({"sh", "-c", "kill -9 $$"}), "command 0 9");
  EXPECT_EQ(told({"no-such-program"}), "command 0 " + std::to_string(127 << 8));
  EXPECT_EQ(told({"/dev/null"}), "command 0 " + std::to_string(126 << 8));
  RunResult result;
  EXPECT_EQ(text(run_command(Batch{1, 0}, result)), with_errno("command", EINVAL));
}

TEST(Left, WhatAKilledWorkerLeavesIsRemovedByTheNextAndByWhoeverCleansUp) {
  const std::int64_t own = getpid();
  char name[64];
  name_of(own, name);
  const std::string folder = std::string("/tmp") + name;
  const auto leave = [&] {
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    ASSERT_EQ(mkdir((folder + "/d").c_str(), 0700), 0);
    close(open((folder + "/d/f").c_str(), O_CREAT | O_WRONLY, 0600));
    close(open((folder + "/d/n").c_str(), O_CREAT | O_WRONLY, 0600));
    ASSERT_GE(msgget(ipc_key(own), IPC_CREAT | 0600), 0);
    ASSERT_GE(semget(ipc_key(own), 1, IPC_CREAT | 0600), 0);
  };
  ASSERT_EQ(chdir("/"), 0);
  leave();
  RunResult result;
  for (const char* workload : {"stat-4", "sysv-msg", "sysv-sem"}) EXPECT_EQ(text(run(workload, 2, result)), "");
  leave();
  remove_left(own, nullptr);
  EXPECT_NE(access(folder.c_str(), F_OK), 0);
  EXPECT_LT(msgget(ipc_key(own), 0), 0);
  EXPECT_LT(semget(ipc_key(own), 0, 0), 0);
}

TEST(Left, ALinkIsNotFollowed) {
  ASSERT_EQ(chdir("/"), 0);
  char name[64];
  name_of(getpid(), name);
  const std::string link = std::string("/tmp") + name, target = "/tmp/tare-work-test." + std::to_string(getpid());
  ASSERT_EQ(mkdir(target.c_str(), 0700), 0);
  close(open((target + "/f").c_str(), O_CREAT | O_WRONLY, 0600));
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  remove_left(getpid(), nullptr);
  EXPECT_EQ(access((target + "/f").c_str(), F_OK), 0);
  RunResult result;
  EXPECT_EQ(text(run("stat-1", 1, result)), with_errno("mkdir", EEXIST));
  unlink(link.c_str());
  unlink((target + "/f").c_str());
  rmdir(target.c_str());
}

TEST(Left, KeysOfTwoLaboratoriesDiffer) {
  EXPECT_NE(ipc_key(1), ipc_key(2));
  EXPECT_NE(ipc_key(1), ipc_key(4194303));
  EXPECT_NE(ipc_key(0), IPC_PRIVATE);
}

// In a fresh network namespace the loopback device is down.
TEST(Loopback, IsBroughtUpWhereItIsDown) {
  EXPECT_EQ(fault_after("tcp-rr",
                        [] {
                          if (unshare(CLONE_NEWNET) != 0) _exit(99);
                        }),
            "");
  // And where it may not be brought up, that is the reason.
  EXPECT_EQ(fault_after("udp-rr",
                        [] {
                          if (unshare(CLONE_NEWNET) != 0 || setresuid(54321, 54321, 54321) != 0) _exit(99);
                        }),
            with_errno("loopback-up", EPERM));
}

TEST(Seteuid, LeavesTheProcessAsItWas) {
  EXPECT_EQ(in_child([] {
              RunResult result;
              const Fault fault = run("seteuid", 5, result);
              if (fault.step != nullptr) return text(fault);
              return geteuid() == 0 && access("/proc/self/environ", R_OK) == 0 ? std::string() : std::string("changed");
            }),
            "");
}

}  // namespace
}  // namespace tare::lab
