#include "seccomp/default_profile.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <map>
#include <set>

#include "base/json.hpp"
#include "base/text.hpp"
#include "in_child.hpp"
#include "oci/names.hpp"
#include "sys/fd.hpp"

namespace tare::seccomp {
namespace {

// From the package golang-github-containers-common, which comes with podman.
constexpr const char* kPodmans = "/usr/share/containers/seccomp.json";

std::uint64_t set_of(const std::vector<std::string>& names) {
  std::uint64_t set = 0;
  for (const std::string& name : names) set |= std::uint64_t{1} << oci::capability_number(name).value();
  return set;
}
// What `tare box` leaves, and everything.
const std::uint64_t kBoxes =
    set_of({"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_NET_BIND_SERVICE",
            "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT"});
constexpr std::uint64_t kAll = (std::uint64_t{1} << (oci::kLastCapability + 1)) - 1;

// What becomes of a call: "allow", "some" (it depends on arguments), "errno N".
using Verdicts = std::map<std::string, std::string>;

void note(Verdicts& verdicts, const std::string& name, const std::string& action, bool conditional,
          const std::string& errno_ret) {
  std::string& v = verdicts[name];
  if (action == "SCMP_ACT_ALLOW") {
    if (!conditional) v = "allow";
    if (conditional && v != "allow") v = "some";
  } else if (v.empty() && !conditional) {
    v = "errno " + errno_ret;
  } else if (v.empty()) {
    v = "some";
  }
}

Verdicts ours(std::uint64_t capabilities) {
  Verdicts verdicts;
  for (const oci::SeccompRule& rule : default_profile(capabilities).syscalls) {
    for (const std::string& name : rule.names) {
      note(verdicts, name, rule.action, !rule.args.empty(), cat(rule.errno_ret.value_or(EPERM)));
    }
  }
  return verdicts;
}

bool any_held(const json::Field& names, std::uint64_t capabilities) {
  for (std::size_t i = 0; names && i < names.size(); ++i) {
    const auto number = oci::capability_number(names.at(i).string());
    if (number && ((capabilities >> *number) & 1) != 0) return true;
  }
  return false;
}

bool applies(const json::Field& rule, std::uint64_t capabilities) {
  const json::Field includes = rule.member("includes");
  const json::Field excludes = rule.member("excludes");
  if (includes) {
    const json::Field arches = includes.member("arches");
    if (arches) {
      const std::vector<std::string> list = arches.strings();
      if (std::find(list.begin(), list.end(), "amd64") == list.end()) return false;
    }
    const json::Field caps = includes.member("caps");
    if (caps && !any_held(caps, capabilities)) return false;
  }
  if (excludes) {
    const json::Field caps = excludes.member("caps");
    if (caps && any_held(caps, capabilities)) return false;
  }
  return true;
}

Verdicts podmans(std::uint64_t capabilities) {
  const json::Document document(sys::read_file(kPodmans), kPodmans);
  const json::Field root = document.root();
  EXPECT_EQ(root.member("defaultErrnoRet").int64(), ENOSYS);
  const json::Field calls = root.member("syscalls");
  Verdicts verdicts;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const json::Field rule = calls.at(i);
    if (!applies(rule, capabilities)) continue;
    const json::Field args = rule.member("args");
    const json::Field errno_ret = rule.member("errnoRet");
    for (const std::string& name : rule.member("names").strings()) {
      note(verdicts, name, rule.member("action").string(), args && args.size() > 0,
           errno_ret ? cat(errno_ret.int64()) : "1");
    }
  }
  return verdicts;
}

std::string verdict(const Verdicts& verdicts, const std::string& name) {
  const auto found = verdicts.find(name);
  return found == verdicts.end() ? "errno 38" : found->second;
}

struct Difference {
  std::string ours, podmans, reason;
  std::vector<std::string> names;
};

// With the capabilities of a box.
const std::vector<Difference> kDifferences = {
    {"errno 1",
     "allow",
     "mounting and namespaces are for CAP_SYS_ADMIN here; podman lets containers nest",
     {"mount", "umount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
      "mount_setattr", "setns"}},
    {"some", "allow", "only without flags for new namespaces", {"clone", "unshare"}},
    {"errno 38", "allow", "its flags can't be seen by a filter; libcs then use clone", {"clone3"}},
    {"errno 1", "allow", "the kernel log is the whole machine's", {"syslog"}},
    {"errno 1", "allow", "needs CAP_SYS_BOOT; a box has nothing to reboot", {"reboot"}},
    {"errno 38", "allow", "keyrings belong to users, who exist outside as well", {"keyctl"}},
    {"errno 38", "allow", "had many bugs; only 16-bit programs under Wine need it", {"modify_ldt"}},
    {"errno 97", "allow", "hides its arguments, so that it would open any address family", {"socketcall"}},
    {"allow", "errno 1", "only renices, as setpriority, which both allow", {"nice"}},
    {"allow", "errno 1", "as io_getevents, which both allow, with a signal mask", {"io_pgetevents"}},
    {"allow", "errno 38", "as io_getevents, with 64-bit time", {"io_pgetevents_time64"}},
    {"allow",
     "errno 38",
     "newer than podman's list: as fchmodat, futex, mincore and madvise",
     {"fchmodat2", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "cachestat", "map_shadow_stack", "mseal",
      "set_mempolicy_home_node"}},
    {"allow",
     "errno 38",
     "newer than podman's list: as the calls without \"at\"",
     {"getxattrat", "setxattrat", "listxattrat", "removexattrat"}},
    {"allow",
     "errno 38",
     "of other machines, where podman allows them as well",
     {"arm_fadvise64_64", "arm_sync_file_range", "sync_file_range2", "cacheflush", "set_tls", "breakpoint", "get_tls",
      "riscv_flush_icache"}},
    {"errno 1", "errno 38", "privileged ones that podman doesn't name", {"quotactl_fd", "create_module"}},
    {"errno 38",
     "errno 1",
     "both refuse; nothing tells a removed call from an old kernel's",
     {"oldfstat", "oldlstat", "oldstat", "olduname", "oldolduname", "sgetmask", "ssetmask", "swapcontext",
      "pciconfig_iobase", "pciconfig_read", "pciconfig_write"}},
    {"errno 38",
     "allow",
     "no call of any machine we run on, or of libseccomp's own making",
     {"syscall", "timerfd", "epoll_ctl_old", "epoll_wait_old"}},
};

// With every capability.
const std::vector<Difference> kPrivilegedDifferences = {
    {"some", "allow", "only usual address families, whatever the capabilities", {"socket"}},
    {"allow",
     "errno 1",
     "allowed with its capability, CAP_SYS_BOOT or CAP_SYS_ADMIN",
     {"kexec_load", "kexec_file_load", "swapon", "swapoff"}},
    {"allow", "errno 38", "privileged ones that podman doesn't name", {"quotactl_fd", "create_module"}},
};

using Key = std::pair<std::string, std::string>;

std::map<std::string, Key> flatten(const std::vector<Difference>& table) {
  std::map<std::string, Key> out;
  for (const Difference& d : table) {
    EXPECT_FALSE(d.reason.empty());
    for (const std::string& name : d.names) EXPECT_TRUE(out.emplace(name, Key{d.ours, d.podmans}).second) << name;
  }
  return out;
}

std::map<std::string, Key> differences(std::uint64_t capabilities) {
  const Verdicts a = ours(capabilities), b = podmans(capabilities);
  std::set<std::string> names;
  for (const auto& [name, v] : a) names.insert(name);
  for (const auto& [name, v] : b) names.insert(name);
  std::map<std::string, Key> out;
  for (const std::string& name : names) {
    const Key key{verdict(a, name), verdict(b, name)};
    if (key.first != key.second) out.emplace(name, key);
  }
  return out;
}

void expect_same(const std::map<std::string, Key>& found, const std::map<std::string, Key>& told) {
  for (const auto& [name, key] : found) {
    const auto known = told.find(name);
    if (known == told.end()) {
      ADD_FAILURE() << name << ": ours " << key.first << ", podman's " << key.second << ": no reason given";
    } else {
      EXPECT_EQ(key, known->second) << name;
    }
  }
  for (const auto& [name, key] : told) EXPECT_TRUE(found.contains(name)) << name << " is no difference any more";
}

#ifdef __x86_64__  // podman's list has conditions by machine
TEST(DefaultProfile, EveryDifferenceToPodmansHasAReason) { expect_same(differences(kBoxes), flatten(kDifferences)); }

TEST(DefaultProfile, EveryDifferenceWithAllCapabilitiesHasAReason) {
  // Those of a box that capabilities don't change, and some of their own.
  std::map<std::string, Key> told = flatten(kPrivilegedDifferences);
  for (const auto& [name, key] : flatten(kDifferences)) {
    if (verdict(ours(kBoxes), name) == verdict(ours(kAll), name) &&
        verdict(podmans(kBoxes), name) == verdict(podmans(kAll), name)) {
      told.emplace(name, key);
    }
  }
  expect_same(differences(kAll), told);
}
#endif

// The filter itself, in a child. For a process that is root, so that EPERM comes from the filter.
class Box : public testing::Test {
 protected:
  static void SetUpTestSuite() { filter_ = new Filter(compile(default_profile(kBoxes))); }
  static void TearDownTestSuite() { delete filter_; }
  static int call(const std::function<int()>& f) { return under(*filter_, f); }
  static Filter* filter_;
};
Filter* Box::filter_ = nullptr;

TEST_F(Box, OrdinaryWorkGoesOn) {
  EXPECT_EQ(call([] {
              const pid_t child = fork();
              if (child == 0) _exit(0);
              int status = 1;
              if (waitpid(child, &status, 0) != child || status != 0) return 1;
              int ends[2];
              if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1) return 2;
              char c = 0;
              if (read(ends[0], &c, 1) != 1 || c != 'x') return 3;
              if (socket(AF_UNIX, SOCK_STREAM, 0) < 0) return 4;
              return 0;
            }),
            0);
  EXPECT_EQ(call([] {
              execl("/bin/true", "true", nullptr);
              return 9;
            }),
            0);
}

TEST_F(Box, NamespacesAreRefused) {
  for (const long flag :
       {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWCGROUP, 0x80}) {
    EXPECT_EQ(call([&] { return probe(SYS_unshare, flag); }), EPERM) << flag;
  }
  EXPECT_EQ(call([] { return probe(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNET | CLONE_FS); }), EPERM);
  EXPECT_EQ(call([] { return probe(SYS_unshare, CLONE_FILES); }), 0);
  EXPECT_EQ(call([] { return probe(SYS_clone, CLONE_NEWUSER | SIGCHLD); }), EPERM);
  EXPECT_EQ(call([] { return probe(SYS_clone3); }), ENOSYS);
  EXPECT_EQ(call([] { return probe(SYS_setns, -1, 0); }), EPERM);
  EXPECT_EQ(call([] { return probe(SYS_mount); }), EPERM);
}

TEST_F(Box, SocketsOfUsualFamiliesOnly) {
  const auto open = [](int family, int protocol) {
    return call([=] { return probe(SYS_socket, family, SOCK_RAW, protocol); });
  };
  EXPECT_EQ(open(AF_NETLINK, 0), 0);
  EXPECT_EQ(open(AF_NETLINK, 9), EINVAL) << "audit";
  for (const int family : {AF_ALG, AF_VSOCK, AF_PACKET, AF_AX25, AF_RDS, AF_CAN, AF_TIPC, AF_KCM, AF_XDP, AF_UNSPEC}) {
    EXPECT_EQ(open(family, 0), EAFNOSUPPORT) << family;
  }
  EXPECT_EQ(call([] { return probe(SYS_socket, AF_INET, SOCK_STREAM, 0); }), 0);
  EXPECT_EQ(call([] { return probe(SYS_socket, AF_INET6, SOCK_DGRAM, 0) == EAFNOSUPPORT ? 0 : 0; }), 0);
  const Filter raw = compile(default_profile(kBoxes | set_of({"CAP_NET_RAW"})));
  EXPECT_NE(under(raw, [] { return probe(SYS_socket, AF_PACKET, SOCK_RAW, 0); }), EAFNOSUPPORT);
  EXPECT_EQ(under(raw, [] { return probe(SYS_socket, AF_ALG, SOCK_SEQPACKET, 0); }), EAFNOSUPPORT);
}

#ifdef __x86_64__
TEST_F(Box, ThirtyTwoBitCodeOpensNoOtherFamilies) {
  const auto call_32 = [](int number, long a, long b, long c) {
    return call([=] { return probe_32(number, a, b, c); });
  };
  constexpr int kSocket32 = 359, kSocketcall32 = 102, kGetppid32 = 64;
  EXPECT_EQ(call_32(kGetppid32, 0, 0, 0), answer_32(0));
  EXPECT_EQ(call_32(kSocket32, AF_UNIX, SOCK_STREAM, 0), answer_32(0));
  EXPECT_EQ(call_32(kSocket32, AF_ALG, SOCK_SEQPACKET, 0), answer_32(EAFNOSUPPORT));
  for (const int operation : {1, 2, 3, 8})
    EXPECT_EQ(call_32(kSocketcall32, operation, 0, 0), answer_32(EAFNOSUPPORT)) << operation;
}
#endif

TEST_F(Box, MachineWideCallsAreRefused) {
  for (const long number : {SYS_bpf, SYS_perf_event_open, SYS_kexec_load, SYS_init_module, SYS_reboot, SYS_syslog,
                            SYS_userfaultfd, SYS_settimeofday, SYS_sethostname, SYS_open_by_handle_at, SYS_swapon}) {
    EXPECT_EQ(call([&] { return probe(number, -1, -1, -1, -1); }), EPERM) << number;
  }
  for (const long number :
       {long{SYS_io_uring_setup}, long{SYS_add_key}, long{SYS_keyctl}, long{SYS_request_key}, 5000L}) {
    EXPECT_EQ(call([&] { return probe(number, -1, -1, -1, -1); }), ENOSYS) << number;
  }
}

TEST_F(Box, PersonalitiesThatDoNotWeaken) {
  EXPECT_EQ(call([] { return probe(SYS_personality, 0xFFFFFFFF); }), 0);
  EXPECT_EQ(call([] { return probe(SYS_personality, PER_LINUX32); }), 0);
  EXPECT_EQ(call([] { return probe(SYS_personality, ADDR_NO_RANDOMIZE); }), ENOSYS);
}

TEST(DefaultProfile, CapabilitiesOpenTheirCalls) {
  const Filter filter = compile(default_profile(kAll));
  EXPECT_NE(under(filter, [] { return probe(SYS_bpf, -1, 0, 0); }), ENOSYS);
  EXPECT_EQ(under(filter, [] { return probe(SYS_mount); }), EFAULT);
  EXPECT_EQ(under(filter, [] { return probe(SYS_setns, -1, 0); }), EBADF);
  EXPECT_EQ(under(filter, [] { return probe(SYS_clone3); }), EINVAL);
}

}  // namespace
}  // namespace tare::seccomp
