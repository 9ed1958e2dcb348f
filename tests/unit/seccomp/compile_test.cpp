#include "seccomp/compile.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>

#include <csignal>

#include "base/error.hpp"
#include "in_child.hpp"

namespace tare::seccomp {
namespace {

oci::SeccompRule rule(std::vector<std::string> names, std::string action, std::vector<oci::SeccompArg> args = {}) {
  oci::SeccompRule r;
  r.names = std::move(names);
  r.action = std::move(action);
  r.args = std::move(args);
  return r;
}

oci::SeccompArg arg(std::uint32_t index, std::string op, std::uint64_t value, std::uint64_t two = 0) {
  return {index, value, two, std::move(op)};
}

// Everything goes, but for the rules given.
oci::Seccomp deny_list(std::vector<oci::SeccompRule> rules) {
  oci::Seccomp p;
  p.default_action = "SCMP_ACT_ALLOW";
  p.syscalls = std::move(rules);
  return p;
}

// Nothing goes (with this errno), but for what a child needs to tell, and the rules given.
oci::Seccomp allow_list(std::vector<oci::SeccompRule> rules, std::uint32_t errno_ret = EACCES) {
  oci::Seccomp p;
  p.default_action = "SCMP_ACT_ERRNO";
  p.default_errno_ret = errno_ret;
  p.syscalls = std::move(rules);
  p.syscalls.push_back(rule({"exit_group", "rt_sigreturn"}, "SCMP_ACT_ALLOW"));
  return p;
}

std::string error_of(const oci::Seccomp& profile) {
  try {
    compile(profile);
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

TEST(Compile, AllowListLetsThroughWhatItNamesOnly) {
  const Filter filter = compile(allow_list({rule({"getppid", "uname"}, "SCMP_ACT_ALLOW")}));
  EXPECT_EQ(under(filter, [] { return probe(SYS_getppid); }), 0);
  char buffer[1024];
  EXPECT_EQ(under(filter, [&] { return probe(SYS_uname, reinterpret_cast<long>(buffer)); }), 0);
  EXPECT_EQ(under(filter, [] { return probe(SYS_getuid); }), EACCES);
  EXPECT_EQ(under(filter, [] { return probe(SYS_umask); }), EACCES);
}

TEST(Compile, ActionsDoWhatTheySay) {
  auto with = [](const char* action, std::optional<std::uint32_t> errno_ret) {
    oci::SeccompRule r = rule({"getuid"}, action);
    r.errno_ret = errno_ret;
    return compile(deny_list({r}));
  };
  auto getuid_call = [] { return probe(SYS_getuid); };
  EXPECT_EQ(under(with("SCMP_ACT_ERRNO", std::nullopt), getuid_call), EPERM) << "the default of errnoRet";
  EXPECT_EQ(under(with("SCMP_ACT_ERRNO", 95), getuid_call), 95);
  EXPECT_EQ(under(with("SCMP_ACT_KILL", std::nullopt), getuid_call), kKilled + SIGSYS);
  EXPECT_EQ(under(with("SCMP_ACT_KILL_THREAD", std::nullopt), getuid_call), kKilled + SIGSYS);
  EXPECT_EQ(under(with("SCMP_ACT_KILL_PROCESS", std::nullopt), getuid_call), kKilled + SIGSYS);
  EXPECT_EQ(under(with("SCMP_ACT_TRAP", std::nullopt), getuid_call), kKilled + SIGSYS);
  EXPECT_EQ(under(with("SCMP_ACT_TRACE", std::nullopt), getuid_call), ENOSYS) << "nobody traces";
  EXPECT_EQ(under(with("SCMP_ACT_LOG", std::nullopt), getuid_call), 0);
}

TEST(Compile, OperatorsCompareTheArgument) {
  struct Case {
    const char* op;
    std::uint64_t value, two;
    long passed;
    bool matches;
  };
  // lseek's second argument is compared; all of them fail with EBADF where the filter lets them by.
  const Case cases[] = {
      {"SCMP_CMP_EQ", 5, 0, 5, true},
      {"SCMP_CMP_EQ", 5, 0, 6, false},
      {"SCMP_CMP_NE", 5, 0, 6, true},
      {"SCMP_CMP_NE", 5, 0, 5, false},
      {"SCMP_CMP_LT", 5, 0, 4, true},
      {"SCMP_CMP_LT", 5, 0, 5, false},
      {"SCMP_CMP_LE", 5, 0, 5, true},
      {"SCMP_CMP_LE", 5, 0, 6, false},
      {"SCMP_CMP_GT", 5, 0, 6, true},
      {"SCMP_CMP_GT", 5, 0, 5, false},
      {"SCMP_CMP_GE", 5, 0, 5, true},
      {"SCMP_CMP_GE", 5, 0, 4, false},
      {"SCMP_CMP_MASKED_EQ", 0xF0, 0x30, 0x3F, true},
      {"SCMP_CMP_MASKED_EQ", 0xF0, 0x30, 0x4F, false},
      {"SCMP_CMP_EQ", 0x100000005, 0, 5, false},  // all 64 bits count
      {"SCMP_CMP_EQ", 0x100000005, 0, 0x100000005, true},
      {"SCMP_CMP_GT", 0x100000000, 0, 0xFFFFFFFF, false},
      {"SCMP_CMP_GT", 0xFFFFFFFF, 0, 0x100000000, true},
  };
  for (const Case& c : cases) {
    const Filter filter = compile(deny_list({rule({"lseek"}, "SCMP_ACT_ERRNO", {arg(1, c.op, c.value, c.two)})}));
    const int got = under(filter, [&] { return probe(SYS_lseek, -1, c.passed, 0); });
    EXPECT_EQ(got, c.matches ? EPERM : EBADF) << c.op << " " << c.value << " with " << c.passed;
  }
}

TEST(Compile, ConditionsOnDifferentArgumentsMustAllHold) {
  const Filter filter = compile(
      deny_list({rule({"socket"}, "SCMP_ACT_ERRNO", {arg(0, "SCMP_CMP_EQ", AF_NETLINK), arg(2, "SCMP_CMP_EQ", 9)})}));
  EXPECT_EQ(under(filter, [] { return probe(SYS_socket, AF_NETLINK, SOCK_RAW, 9); }), EPERM);
  EXPECT_NE(under(filter, [] { return probe(SYS_socket, AF_NETLINK, SOCK_RAW, 0); }), EPERM);
  EXPECT_NE(under(filter, [] { return probe(SYS_socket, AF_UNIX, SOCK_STREAM, 0); }), EPERM);
}

// The rule of CVE-2017-18367: two conditions on one argument are alternatives.
TEST(Compile, ConditionsOnTheSameArgumentAreAlternatives) {
  const Filter filter = compile(deny_list({rule(
      {"socket"}, "SCMP_ACT_ERRNO",
      {arg(0, "SCMP_CMP_EQ", AF_NETLINK), arg(0, "SCMP_CMP_EQ", AF_PACKET), arg(1, "SCMP_CMP_EQ", SOCK_SEQPACKET)})}));
  EXPECT_EQ(under(filter, [] { return probe(SYS_socket, AF_NETLINK, SOCK_RAW, 0); }), EPERM);
  EXPECT_EQ(under(filter, [] { return probe(SYS_socket, AF_PACKET, SOCK_RAW, 0); }), EPERM);
  EXPECT_EQ(under(filter, [] { return probe(SYS_socket, AF_UNIX, SOCK_SEQPACKET, 0); }), EPERM)
      << "the third condition stands by itself, too";
  EXPECT_EQ(under(filter, [] { return probe(SYS_socket, AF_UNIX, SOCK_STREAM, 0); }), 0);
}

TEST(Compile, RuleLikeTheDefaultIsSkipped) {
  oci::Seccomp profile = allow_list({rule({"getuid"}, "SCMP_ACT_ERRNO"), rule({"getppid"}, "SCMP_ACT_ALLOW")}, EPERM);
  const Filter filter = compile(profile);
  EXPECT_EQ(under(filter, [] { return probe(SYS_getuid); }), EPERM);
  EXPECT_EQ(compile(deny_list({rule({"getuid"}, "SCMP_ACT_ALLOW")})).program.size(), 0U) << "nothing is filtered";
}

TEST(Compile, SameActionWithAnotherErrnoIsARule) {
  oci::SeccompRule other = rule({"getuid"}, "SCMP_ACT_ERRNO");
  other.errno_ret = 77;
  EXPECT_EQ(under(compile(allow_list({other})), [] { return probe(SYS_getuid); }), 77);
}

TEST(Compile, UnknownNamesAreSkipped) {
  const Filter filter = compile(deny_list({rule({"no_such_call", "getuid"}, "SCMP_ACT_ERRNO")}));
  EXPECT_EQ(under(filter, [] { return probe(SYS_getuid); }), EPERM);
}

TEST(Compile, RepeatedRuleIsNoError) {
  const Filter filter =
      compile(deny_list({rule({"getuid"}, "SCMP_ACT_ERRNO"), rule({"getuid", "getuid"}, "SCMP_ACT_ERRNO")}));
  EXPECT_EQ(under(filter, [] { return probe(SYS_getuid); }), EPERM);
}

TEST(Compile, CallsAboveTheLastNamedOneAreENOSYS) {
  // getuid (102 on x86_64, 174 on arm64) is named and the highest; getppid lies above or below it.
  const Filter filter = compile(allow_list({rule({"openat2"}, "SCMP_ACT_ALLOW")}));
  EXPECT_EQ(under(filter, [] { return probe(SYS_openat2 + 1); }), ENOSYS);
  EXPECT_EQ(under(filter, [] { return probe(SYS_openat2 + 400); }), ENOSYS);
  EXPECT_EQ(under(filter, [] { return probe(SYS_openat2 - 1); }), EACCES) << "known to the author, and left out";
  EXPECT_EQ(under(filter, [] { return probe(SYS_getuid); }), EACCES);
}

TEST(Compile, ENOSYSReplacesKillButNotTraceOrAllow) {
  oci::Seccomp kill = allow_list({});
  kill.default_action = "SCMP_ACT_KILL_PROCESS";
  kill.default_errno_ret.reset();
  EXPECT_EQ(under(compile(kill), [] { return probe(SYS_openat2 + 400); }), ENOSYS);
  EXPECT_EQ(under(compile(kill), [] { return probe(SYS_getpid); }), kKilled + SIGSYS);

  oci::Seccomp log = allow_list({});
  log.default_action = "SCMP_ACT_LOG";
  log.default_errno_ret.reset();
  log.syscalls.push_back(rule({"getuid"}, "SCMP_ACT_ERRNO"));
  EXPECT_EQ(under(compile(log), [] { return probe(SYS_openat2, -1, 0, 0, 0); }), EINVAL) << "the kernel's own answer";
}

TEST(Compile, ManyRulesUseTheTreeWithTheSameVerdicts) {
  const std::vector<std::string> names = {"getuid", "geteuid", "getgid", "getegid", "getppid", "getpid",
                                          "gettid", "uname",   "getsid", "umask",   "sync",    "sched_yield",
                                          "getcwd", "fchdir",  "fchmod", "fchown",  "fsync",   "ftruncate"};
  oci::SeccompRule deny = rule(names, "SCMP_ACT_ERRNO");
  deny.errno_ret = 99;
  const Filter filter = compile(deny_list({deny}));
  for (const long number : {SYS_getuid, SYS_getppid, SYS_getsid, SYS_ftruncate, SYS_fchdir}) {
    EXPECT_EQ(under(filter, [&] { return probe(number, -1); }), 99) << number;
  }
  EXPECT_EQ(under(filter, [] { return probe(SYS_getpgid); }), 0);
  EXPECT_EQ(under(filter, [] { return probe(SYS_close, -1); }), EBADF);
}

#ifdef __x86_64__
constexpr int kGetuid32 = 199, kGetppid32 = 64, kExitGroup32 = 252;

TEST(Compile, ThirtyTwoBitCallsFollowTheirOwnNumbers) {
  oci::Seccomp profile = allow_list({rule({"getppid"}, "SCMP_ACT_ALLOW")});
  profile.architectures = {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"};
  const Filter filter = compile(profile);
  EXPECT_EQ(under(filter, [] { return probe(SYS_getppid); }), 0);
  EXPECT_EQ(under(filter, [] { return probe_32(kGetppid32); }), answer_32(0));
  EXPECT_EQ(under(filter, [] { return probe_32(kGetuid32); }), answer_32(EACCES));
  // exit_group is the highest named: 231 of 64 bit, 252 of 32 bit. 240 is futex of 32 bit.
  EXPECT_EQ(under(filter, [] { return probe(SYS_exit_group + 1); }), ENOSYS);
  EXPECT_EQ(under(filter, [] { return probe_32(kExitGroup32 - 12); }), answer_32(EACCES));
  EXPECT_EQ(under(filter, [] { return probe_32(kExitGroup32 + 1); }), answer_32(ENOSYS));
  // x32: the bit and a number above and below 513, the rt_sigreturn of x32.
  EXPECT_EQ(under(filter, [] { return probe(0x40000000 + 600); }), ENOSYS);
  EXPECT_EQ(under(filter, [] { return probe(0x40000000 + 1); }), EACCES);
}

TEST(Compile, ArchitectureThatIsNotNamedDies) {
  const Filter filter = compile(allow_list({rule({"getppid"}, "SCMP_ACT_ALLOW")}));
  EXPECT_EQ(under(filter, [] { return probe(SYS_getppid); }), 0);
  EXPECT_EQ(under(filter, [] { return probe_32(kGetppid32); }), answer_32(kKilled + SIGSYS));
  EXPECT_EQ(under(filter, [] { return probe(0x40000000 + 1); }), kKilled + SIGSYS);
}
#endif

TEST(Compile, FlagsBecomeTheKernels) {
  oci::Seccomp profile = deny_list({rule({"getuid"}, "SCMP_ACT_ERRNO")});
  EXPECT_EQ(compile(profile).flags, SECCOMP_FILTER_FLAG_SPEC_ALLOW) << "none given";
  profile.flags = {"SECCOMP_FILTER_FLAG_LOG"};
  EXPECT_EQ(compile(profile).flags, SECCOMP_FILTER_FLAG_LOG);
  profile.flags = {"SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"};
  EXPECT_EQ(compile(profile).flags, 0U);
  EXPECT_EQ(under(compile(profile), [] { return probe(SYS_getuid); }), EPERM) << "the kernel takes the flags";
  profile.flags = {"SECCOMP_FILTER_FLAG_X"};
  EXPECT_EQ(error_of(profile), "linux.seccomp.flags[0]: unknown flag \"SECCOMP_FILTER_FLAG_X\"");
}

TEST(Compile, ErrorsNameTheField) {
  EXPECT_EQ(error_of({}), "linux.seccomp.defaultAction: is missing");
  oci::Seccomp profile = deny_list({rule({"getuid"}, "SCMP_ACT_ALLOW"), rule({"getuid"}, "ALLOW")});
  EXPECT_EQ(error_of(profile), "linux.seccomp.syscalls[1].action: unknown action \"ALLOW\"");
  profile = deny_list({rule({"getuid"}, "SCMP_ACT_KILL")});
  profile.syscalls[0].errno_ret = 3;
  EXPECT_EQ(error_of(profile), "linux.seccomp.syscalls[0].errnoRet: action \"SCMP_ACT_KILL\" takes no errno");
  profile = deny_list({rule({"getuid"}, "SCMP_ACT_ERRNO")});
  profile.syscalls[0].errno_ret = 70000;
  EXPECT_EQ(error_of(profile), "linux.seccomp.syscalls[0].errnoRet: 70000 is above 4095");
  profile = deny_list({});
  profile.default_errno_ret = 1;
  EXPECT_EQ(error_of(profile), "linux.seccomp.defaultErrnoRet: action \"SCMP_ACT_ALLOW\" takes no errno");
  EXPECT_EQ(error_of(deny_list({rule({"getuid"}, "SCMP_ACT_ERRNO", {arg(6, "SCMP_CMP_EQ", 0)})})),
            "linux.seccomp.syscalls[0].args[0].index: 6 is above 5");
  EXPECT_EQ(error_of(deny_list({rule({"getuid"}, "SCMP_ACT_ERRNO", {arg(0, "==", 0)})})),
            "linux.seccomp.syscalls[0].args[0].op: unknown operator \"==\"");
  EXPECT_EQ(error_of(deny_list({rule({"getuid"}, "SCMP_ACT_NOTIFY")})),
            "linux.seccomp.syscalls[0].action: SCMP_ACT_NOTIFY is not supported yet (linux.seccomp.listenerPath)");
  EXPECT_EQ(error_of(deny_list({rule({}, "SCMP_ACT_ERRNO")})), "linux.seccomp.syscalls[0].names: is empty");
  profile = deny_list({});
  profile.architectures = {"SCMP_ARCH_Z80"};
  EXPECT_NE(error_of(profile).find("linux.seccomp.architectures[0]: "), std::string::npos);
  profile.architectures = {};
  profile.listener_metadata = "x";
  EXPECT_EQ(error_of(profile), "linux.seccomp.listenerMetadata: is set without linux.seccomp.listenerPath");
}

TEST(Serialise, EveryFieldCounts) {
  oci::Seccomp base = allow_list({rule({"socket"}, "SCMP_ACT_ERRNO", {arg(0, "SCMP_CMP_EQ", 1, 2)})});
  const std::string text = serialise(base);
  std::vector<oci::Seccomp> others(12, base);
  others[0].default_action = "SCMP_ACT_KILL";
  others[1].default_errno_ret.reset();
  others[2].architectures = {"SCMP_ARCH_X86"};
  others[3].flags = {"SCMP_ARCH_X86"};
  others[4].listener_path = "/x";
  others[5].syscalls[0].names = {"sock", "et"};
  others[6].syscalls[0].action = "SCMP_ACT_TRAP";
  others[7].syscalls[0].errno_ret = 0;
  others[8].syscalls[0].args[0].value = 12;
  others[9].syscalls[0].args[0].value_two = 0;
  others[10].syscalls[0].args[0].op = "SCMP_CMP_NE";
  others[11].syscalls[0].args[0].index = 1;
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(serialise(others[i]), text) << i;
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(serialise(others[i]), serialise(others[k])) << i << " " << k;
  }
  EXPECT_EQ(serialise(base), text);
}

}  // namespace
}  // namespace tare::seccomp
