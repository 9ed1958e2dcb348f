// Names against the kernel's headers and the system's own tables.
#include "oci/names.hpp"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>

namespace tare::oci {
namespace {

TEST(Names, Capabilities) {
  EXPECT_EQ(kLastCapability, CAP_LAST_CAP);
  EXPECT_EQ(capability_number("CAP_CHOWN"), CAP_CHOWN);
  EXPECT_EQ(capability_number("CAP_KILL"), CAP_KILL);
  EXPECT_EQ(capability_number("CAP_SETPCAP"), CAP_SETPCAP);
  EXPECT_EQ(capability_number("CAP_NET_BIND_SERVICE"), CAP_NET_BIND_SERVICE);
  EXPECT_EQ(capability_number("CAP_NET_RAW"), CAP_NET_RAW);
  EXPECT_EQ(capability_number("CAP_SYS_CHROOT"), CAP_SYS_CHROOT);
  EXPECT_EQ(capability_number("CAP_SYS_ADMIN"), CAP_SYS_ADMIN);
  EXPECT_EQ(capability_number("CAP_SYS_TTY_CONFIG"), CAP_SYS_TTY_CONFIG);
  EXPECT_EQ(capability_number("CAP_MKNOD"), CAP_MKNOD);
  EXPECT_EQ(capability_number("CAP_AUDIT_WRITE"), CAP_AUDIT_WRITE);
  EXPECT_EQ(capability_number("CAP_SETFCAP"), CAP_SETFCAP);
  EXPECT_EQ(capability_number("CAP_MAC_ADMIN"), CAP_MAC_ADMIN);
  EXPECT_EQ(capability_number("CAP_WAKE_ALARM"), CAP_WAKE_ALARM);
  EXPECT_EQ(capability_number("CAP_AUDIT_READ"), CAP_AUDIT_READ);
  EXPECT_EQ(capability_number("CAP_BPF"), CAP_BPF);
  EXPECT_EQ(capability_number("CAP_CHECKPOINT_RESTORE"), CAP_CHECKPOINT_RESTORE);
  for (int i = 0; i <= kLastCapability; ++i) EXPECT_EQ(capability_number(capability_name(i)), i);
  for (const char* unknown : {"", "KILL", "cap_kill", "CAP_", "CAP_KILL "}) EXPECT_FALSE(capability_number(unknown));
  EXPECT_EQ(capability_name(-1), "");
  EXPECT_EQ(capability_name(41), "");
}

TEST(Names, Rlimits) {
  EXPECT_EQ(rlimit_number("RLIMIT_CPU"), RLIMIT_CPU);
  EXPECT_EQ(rlimit_number("RLIMIT_NOFILE"), RLIMIT_NOFILE);
  EXPECT_EQ(rlimit_number("RLIMIT_LOCKS"), __RLIMIT_LOCKS);
  EXPECT_EQ(rlimit_number("RLIMIT_SIGPENDING"), __RLIMIT_SIGPENDING);
  EXPECT_EQ(rlimit_number("RLIMIT_MSGQUEUE"), __RLIMIT_MSGQUEUE);
  EXPECT_EQ(rlimit_number("RLIMIT_NICE"), __RLIMIT_NICE);
  EXPECT_EQ(rlimit_number("RLIMIT_RTPRIO"), __RLIMIT_RTPRIO);
  EXPECT_EQ(rlimit_number("RLIMIT_RTTIME"), __RLIMIT_RTTIME);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(rlimit_number(rlimit_name(i)), i) << i;
  EXPECT_EQ(rlimit_name(16), "");
  for (const char* unknown : {"", "NOFILE", "rlimit_nofile", "RLIMIT_"}) EXPECT_FALSE(rlimit_number(unknown));
}

TEST(Names, SignalsAreTheSystems) {
  for (int i = 1; i <= 31; ++i) {
    const std::string name = sigabbrev_np(i);
    EXPECT_EQ(signal_number(name), i) << name;
    EXPECT_EQ(signal_number("SIG" + name), i) << name;
    EXPECT_EQ(signal_number(std::to_string(i)), i);
    EXPECT_EQ(signal_name(i), i == 29 ? "SIGIO" : "SIG" + name);  // glibc says SIGPOLL, all else SIGIO
  }
}

TEST(Names, SignalSpellings) {
  EXPECT_EQ(signal_number("sigterm"), 15);
  EXPECT_EQ(signal_number("Term"), 15);
  EXPECT_EQ(signal_number("CLD"), 17);
  EXPECT_EQ(signal_number("IOT"), 6);
  EXPECT_EQ(signal_number("POLL"), 29);
  EXPECT_EQ(signal_number("0"), 0);
  EXPECT_EQ(signal_number("RTMIN"), SIGRTMIN);
  EXPECT_EQ(signal_number("SIGRTMIN+1"), SIGRTMIN + 1);
  EXPECT_EQ(signal_number("rtmin+30"), 64);
  EXPECT_EQ(signal_number("RTMAX"), SIGRTMAX);
  EXPECT_EQ(signal_number("SIGRTMAX-2"), 62);
  EXPECT_EQ(signal_number("64"), 64);
  EXPECT_EQ(signal_name(34), "SIGRTMIN");
  EXPECT_EQ(signal_name(40), "SIGRTMIN+6");
  for (const char* unknown : {"", "65", "-1", "SIG", "FOO", "SIGSIGTERM", "15 ", " 15", "RTMIN+31", "RTMIN-1",
                              "RTMAX+1", "RTMIN+", "RTMIN1", "RTMIN+-1", "0x9", "9.0"}) {
    EXPECT_FALSE(signal_number(unknown)) << unknown;
  }
  for (const int unknown : {0, 32, 33, 65, -1}) EXPECT_EQ(signal_name(unknown), "") << unknown;
}

TEST(Names, Namespaces) {
  EXPECT_EQ(std::size(kNamespaceTypes), 8U);
  for (const auto type : kNamespaceTypes) EXPECT_EQ(namespace_type(namespace_name(type)), type);
  EXPECT_EQ(namespace_clone_flag(NamespaceType::pid), CLONE_NEWPID);
  EXPECT_EQ(namespace_clone_flag(NamespaceType::network), CLONE_NEWNET);
  EXPECT_EQ(namespace_clone_flag(NamespaceType::mount), CLONE_NEWNS);
  EXPECT_EQ(namespace_clone_flag(NamespaceType::ipc), CLONE_NEWIPC);
  EXPECT_EQ(namespace_clone_flag(NamespaceType::uts), CLONE_NEWUTS);
  EXPECT_EQ(namespace_clone_flag(NamespaceType::user), CLONE_NEWUSER);
  EXPECT_EQ(namespace_clone_flag(NamespaceType::cgroup), CLONE_NEWCGROUP);
  EXPECT_EQ(namespace_clone_flag(NamespaceType::time), 0x80U);
  EXPECT_EQ(namespace_proc_name(NamespaceType::network), "net");
  EXPECT_EQ(namespace_proc_name(NamespaceType::mount), "mnt");
  for (const char* unknown : {"", "net", "mnt", "PID", "pid "}) EXPECT_FALSE(namespace_type(unknown)) << unknown;
}

TEST(Names, Words) {
  EXPECT_EQ(scheduler_policy("SCHED_FIFO"), SCHED_FIFO);
  EXPECT_EQ(scheduler_policy("SCHED_DEADLINE"), 6U);
  for (std::uint32_t i = 0; i <= 6; ++i) EXPECT_EQ(scheduler_policy(scheduler_policy_name(i)), i);
  for (std::uint64_t i = 0; i < 7; ++i) {
    EXPECT_EQ(scheduler_flag(scheduler_flag_name(std::uint64_t{1} << i)), std::uint64_t{1} << i);
  }
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(io_class_number(io_class_name(i)), i);
  EXPECT_EQ(personality_domain("LINUX32"), 8U);
  EXPECT_EQ(memory_policy_mode("MPOL_BIND"), 2);
  EXPECT_EQ(memory_policy_modes().size(), 7U);
  for (const auto mode : memory_policy_modes()) EXPECT_TRUE(memory_policy_mode(mode)) << mode;
  for (const auto flag : memory_policy_flags()) EXPECT_TRUE(memory_policy_flag(flag)) << flag;
  EXPECT_EQ(seccomp_actions().size(), 9U);
  EXPECT_EQ(seccomp_operators().size(), 7U);
  EXPECT_EQ(seccomp_architectures().size(), 23U);
  EXPECT_EQ(seccomp_flags().size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(seccomp_architectures()));
}

}  // namespace
}  // namespace tare::oci
