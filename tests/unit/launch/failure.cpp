// The texts of a failed start: engines compare some of them.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "launch/hooks.hpp"
#include "launch/launch.hpp"

namespace tare::launch {
namespace {

std::string text_of(plan::Code code, int error, const char* call, const char* what, const char* detail,
                    const char* step) {
  Message m{};
  m.kind = Kind::failed;
  m.code = code;
  m.error = error;
  std::strncpy(m.call, call, sizeof m.call - 1);
  std::strncpy(m.what, what, sizeof m.what - 1);
  std::strncpy(m.detail, detail, sizeof m.detail - 1);
  try {
    throw_failure(m, step);
  } catch (const Error& e) {
    EXPECT_EQ(e.errno_value(), error);
    return e.text();
  }
}

TEST(Failure, ProgramsThatCannotBeRun) {
  using plan::Code;
  EXPECT_EQ(text_of(Code::find_program, ENOENT, "PATH", "nosuch", "", "x"),
            "exec: \"nosuch\": executable file not found in $PATH");
  EXPECT_EQ(text_of(Code::find_program, ENOENT, "stat", "/bin/no", "", "x"),
            "exec: \"/bin/no\": stat /bin/no: no such file or directory");
  EXPECT_EQ(text_of(Code::exec_program, EACCES, "exec", "/etc", "", "x"), "exec: \"/etc\": permission denied");
}

TEST(Failure, OperationsInTheWordsOfThePlan) {
  using plan::Code;
  EXPECT_EQ(text_of(Code::mount_fs, EINVAL, "fsconfig", "", "option size=x", "mounts: mount \"tmpfs\" on \"/t\""),
            "mounts: mount \"tmpfs\" on \"/t\": fsconfig: invalid argument (option size=x)");
  EXPECT_EQ(text_of(Code::mount_bind, ENOTDIR, "", "", "the source is a folder, the destination is not", "bind"),
            "bind: the source is a folder, the destination is not");
  EXPECT_EQ(text_of(Code::run_hook, ECANCELED, "", "/h", "exit status 3", ""), "hook \"/h\": exit status 3");
}

TEST(Failure, WhatAChildNamesIsEscaped) {
  EXPECT_EQ(text_of(plan::Code::find_program, ENOENT, "PATH", "a\033[2Jb", "", ""),
            "exec: \"a\\x1b[2Jb\": executable file not found in $PATH");
}

oci::Hook shell(const char* script, std::optional<int> timeout = {}) {
  return {"/bin/sh", {"sh", "-c", script}, {"ONLY=this"}, timeout};
}

std::string hook_failure(const oci::Hook& hook) {
  try {
    run_hook(hook, "{\"id\":\"a\"}", "/tmp", "hooks.prestart[0]");
  } catch (const Error& e) {
    return e.text();
  }
  return "";
}

TEST(Hooks, GetTheStateTheirEnvironmentAndTheBundle) {
  EXPECT_EQ(hook_failure(shell("test \"$(cat)\" = '{\"id\":\"a\"}' && test \"$PWD\" = /tmp && test \"$ONLY\" = this && "
                               "test -z \"$HOME\" && test ! -e /proc/self/fd/9")),
            "");
}

TEST(Hooks, FailuresNameFieldPathStatusAndLastWords) {
  EXPECT_EQ(hook_failure(shell("echo oh >&2; exit 3")),
            "hooks.prestart[0]: hook \"/bin/sh\": exit status 3, stderr: \"oh\"");
  EXPECT_EQ(hook_failure({"/no/such", {}, {}, {}}),
            "hooks.prestart[0]: hook \"/no/such\": exec: no such file or directory");
  EXPECT_EQ(hook_failure(shell("kill -9 $$")), "hooks.prestart[0]: hook \"/bin/sh\": was ended by signal 9");
}

TEST(Hooks, ATimeoutEndsTheWholeGroupAndWaitsForNoPipe) {
  // The grandchild holds stderr; a runtime that waited for its end would wait a minute.
  const auto before = std::time(nullptr);
  EXPECT_NE(hook_failure(shell("sleep 60 & sleep 60", 1)).find("did not end within 1 s"), std::string::npos);
  EXPECT_LT(std::time(nullptr) - before, 30);
}

TEST(Hooks, OneThatDoesNotReadItsInputIsFine) { EXPECT_EQ(hook_failure(shell("exit 0")), ""); }

}  // namespace
}  // namespace tare::launch
