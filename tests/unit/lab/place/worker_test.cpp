// The laboratory's end of the protocol, against a made-up worker; and how left-over cgroups are known.
#include "lab/place/worker.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/place/measuring_cgroup.hpp"

namespace tare::lab {
namespace {

// A child that does `play` on its end of the socket, and leaves with status 7.
Worker worker(const std::function<void(int)>& play, int stop = -1) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    play(ends[1]);
    _exit(7);
  }
  close(ends[1]);
  return Worker({sys::Child(pid, sys::Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))), sys::Fd(ends[0])}, stop);
}

std::function<void(int)> answering(std::string text) {
  return [text](int fd) {
    char request[1024];
    (void)!recv(fd, request, sizeof request, 0);
    (void)!send(fd, text.data(), text.size(), 0);
    (void)!recv(fd, request, sizeof request, 0);
  };
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

TEST(Worker, HelloIsCheckedForItsVersion) {
  EXPECT_EQ(worker(answering("hello 2 pid=1 uid=0")).hello(), "pid=1 uid=0");
  EXPECT_NE(error_of([] { worker(answering("hello 1 pid=1")).hello(); }).find("another version"), std::string::npos);
}

TEST(Worker, ARunsFiguresArrive) {
  const RunResult r = worker(answering("done 1 2 3 4 5 10")).run("spawn", 10, 0);
  EXPECT_EQ(r, (RunResult{1, 2, 3, 4, 5, 10}));
  EXPECT_NE(error_of([] { worker(answering("done 1 2 3 4 5")).run("spawn", 10, 0); }).find("the worker says"),
            std::string::npos);
}

TEST(Worker, FailuresAreToldInWords) {
  const auto told = [](const std::string& answer) {
    return error_of([&] { worker(answering(answer)).run("spawn", 10, 0); });
  };
  EXPECT_EQ(told("fail fork 11 0"), "fork: resource temporarily unavailable");
  EXPECT_EQ(told("fail command 0 768"), "command: exit status 3");
  EXPECT_EQ(told("fail command 0 32512"), "command: not found (exit status 127)");
  EXPECT_EQ(told("fail command 0 9"), "command: killed by signal 9");
  EXPECT_EQ(told("fail bytes-that-arrived 0 0"), "bytes-that-arrived: not as it must be");
}

TEST(Worker, ItsDeathIsToldWithItsStatus) {
  EXPECT_EQ(error_of([] { worker([](int) {}).run("spawn", 1, 0); }), "the worker ended with status 7");
  EXPECT_EQ(error_of([] { worker([](int) { raise(SIGKILL); }).run("spawn", 1, 0); }),
            "the worker was killed by signal 9");
}

TEST(Worker, OneThatHasEndedIsAskedNothingMore) {
  Worker w = worker([](int) {});
  EXPECT_THROW(w.run("spawn", 1, 0), Error);
  EXPECT_TRUE(w.ended());
  EXPECT_EQ(error_of([&] { w.run("spawn", 1, 0); }), "the worker has ended before");
  w.bye();
}

// A worker that gives back what it was asked, with blanks for the zero bytes.
std::string asked(const std::function<void(Worker&)>& ask) {
  Worker w = worker([](int fd) {
    char request[1024];
    for (;;) {
      const ssize_t n = recv(fd, request, sizeof request, 0);
      if (n <= 0) break;
      for (ssize_t i = 0; i < n; ++i) {
        if (request[i] == '\0' || request[i] == ' ') request[i] = '_';
      }
      const std::string text = "fail " + std::string(request, static_cast<std::size_t>(n)) + " 0 0";
      (void)!send(fd, text.data(), text.size(), 0);
    }
  });
  return error_of([&] { ask(w); });
}

TEST(Worker, WhatItIsAskedIsOneMessage) {
  EXPECT_EQ(asked([](Worker& w) { w.run("open", 3, 4, 5); }), "run_open_3_4_5: not as it must be");
  EXPECT_EQ(asked([](Worker& w) { w.run("open", 3, 4); }), "run_open_3_4_0: not as it must be");
  EXPECT_EQ(asked([](Worker& w) { w.shell("/x", "a b"); }), "shell_/x_a_b: not as it must be");
  EXPECT_EQ(asked([](Worker& w) { w.set_command("/x", {"a", "", "b"}, "n"); }), "command_n_/x_a__b: not as it must be");
  EXPECT_EQ(asked([](Worker& w) { w.hello(); }), cat("hello_", getpid(), ": not as it must be"));
}

TEST(Worker, WaitingEndsWhenToldToStop) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  ASSERT_EQ(write(pipe_ends[1], "x", 1), 1);
  Worker w = worker(
      [](int fd) {
        char request[1024];
        (void)!recv(fd, request, sizeof request, 0);
        pause();
      },
      pipe_ends[0]);
  EXPECT_THROW(w.run("spawn", 1, 0), Interrupted);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(Worker, ATooLongCommandIsRefused) {
  EXPECT_NE(error_of([] { worker(answering("ok")).set_command("/", {std::string(70'000, 'x')}); }).find("64 KiB"),
            std::string::npos);
  EXPECT_NO_THROW(worker(answering("ok")).set_command("/", {"true"}));
  EXPECT_NE(error_of([] { worker(answering("ok")).shell("/", std::string(70'000, 'x')); }).find("64 KiB"),
            std::string::npos);
}

TEST(Abandoned, IsOneWhoseOwnerIsGone) {
  const std::string own = owner_name();
  EXPECT_FALSE(is_abandoned(own));
  const auto parts = split(own, '.');
  ASSERT_EQ(parts.size(), 4u);
  const std::uint64_t start = sys::start_time(getpid());
  EXPECT_TRUE(
      is_abandoned(cat("tare-weigh.", getpid(), ".", start + 1, ".", parts[3])));  // the pid is another's by now
  EXPECT_TRUE(is_abandoned(cat("tare-weigh.4194305.1.", parts[3])));               // above any pid
  // Of another pid namespace, whose processes can't be seen from here.
  EXPECT_FALSE(is_abandoned("tare-weigh.4194305.1.1"));
  for (const std::string& other : {std::string(), std::string("tare-weigh"), cat("tare-weigh.1.", parts[3]),
                                   cat("tare-weigh.x.1.", parts[3]), cat("tare-weigh.1.x.", parts[3]),
                                   cat("tare-weigh.4194305.1.1.", parts[3]), cat("xtare-weigh.4194305.1.", parts[3])}) {
    EXPECT_FALSE(is_abandoned(other)) << other;
  }
}

}  // namespace
}  // namespace tare::lab
