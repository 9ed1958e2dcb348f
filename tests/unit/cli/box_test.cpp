#include "cli/box.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "oci/names.hpp"
#include "oci/validate.hpp"

namespace tare::cli {
namespace {

HostView root_view() {
  HostView view;
  view.tty = true;
  view.term = "xterm";
  view.lang = "C.UTF-8";
  view.current_folder = "/work";
  view.masked = {"/etc/shadow"};
  view.emptied = {"/tmp", "/root"};
  view.home = "/root";
  return view;
}

HostView user_view() {
  HostView view = root_view();
  view.euid = 1000;
  view.egid = 1001;
  return view;
}

BoxOptions options(std::vector<std::string> words, const HostView& view = root_view()) {
  words.insert(words.begin(), "tare");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  return make_box_options(parse(kBox, static_cast<int>(words.size()), argv.data()), view);
}

oci::Spec spec(std::vector<std::string> words, const HostView& view = root_view()) {
  oci::Spec s = make_box_spec(options(std::move(words), view), view);
  oci::Warnings warnings;
  oci::normalize(*s.process, warnings);
  oci::validate(s, warnings);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
  return s;
}

const oci::Mount* mount_at(const oci::Spec& s, std::string_view destination) {
  const oci::Mount* found = nullptr;
  for (const oci::Mount& m : s.mounts) {
    if (m.destination == destination) found = &m;
  }
  return found;
}

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

TEST(Box, DefaultsForRoot) {
  const oci::Spec s = spec({"--", "ls", "-l"});
  EXPECT_EQ(s.process->args, (std::vector<std::string>{"ls", "-l"}));
  EXPECT_TRUE(s.process->terminal);
  EXPECT_TRUE(s.process->no_new_privileges);
  EXPECT_EQ(s.process->cwd, "/");
  EXPECT_EQ(s.hostname, "box");
  EXPECT_EQ(s.root.path, "/");
  EXPECT_FALSE(s.root.readonly);
  EXPECT_EQ(s.annotations.at(oci::kAnnotationRootOverlay), "tmpfs");
  EXPECT_EQ(s.linux_.resources->pids_limit, 4096);
  EXPECT_FALSE(s.linux_.resources->memory.has_value());
  for (const auto type : {oci::NamespaceType::pid, oci::NamespaceType::mount, oci::NamespaceType::network,
                          oci::NamespaceType::ipc, oci::NamespaceType::uts, oci::NamespaceType::cgroup}) {
    EXPECT_TRUE(s.has_new_namespace(type)) << oci::namespace_name(type);
  }
  EXPECT_FALSE(s.has_new_namespace(oci::NamespaceType::user));
  EXPECT_TRUE(has(s.linux_.masked_paths, "/etc/shadow"));
  EXPECT_TRUE(has(s.linux_.masked_paths, "/proc/kcore")) << "those of tare spec as well";
  ASSERT_NE(mount_at(s, "/tmp"), nullptr);
  EXPECT_TRUE(has(mount_at(s, "/tmp")->options, "mode=1777"));
  EXPECT_TRUE(has(mount_at(s, "/root")->options, "mode=0700"));
  ASSERT_TRUE(s.linux_.seccomp.has_value());
  EXPECT_EQ(s.linux_.seccomp->default_action, "SCMP_ACT_ERRNO");
}

TEST(Box, OnlyTermAndLangComeAlong) {
  setenv("TARE_TEST_SECRET", "s", 1);
  const oci::Spec s = spec({"true"});
  EXPECT_EQ(s.process->env,
            (std::vector<std::string>{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
                                      "TERM=xterm", "LANG=C.UTF-8"}));
  HostView bare = root_view();
  bare.term.clear();
  bare.lang.clear();
  EXPECT_EQ(spec({"true"}, bare).process->env.size(), 2U);
  const oci::Spec asked =
      spec({"-e", "TARE_TEST_SECRET", "-e", "TARE_TEST_ABSENT", "-e", "PATH=/x", "-e", "A=b=c", "true"});
  EXPECT_EQ(asked.process->env, (std::vector<std::string>{"HOME=/root", "TERM=xterm", "LANG=C.UTF-8",
                                                          "TARE_TEST_SECRET=s", "PATH=/x", "A=b=c"}));
  unsetenv("TARE_TEST_SECRET");
}

TEST(Box, CapabilitiesAreTheUsualOnesWithinOurs) {
  const oci::Capabilities caps = *spec({"true"}).process->capabilities;
  EXPECT_EQ(caps.bounding, caps.effective);
  EXPECT_EQ(caps.bounding, caps.permitted);
  EXPECT_EQ(caps.inheritable, 0U);
  EXPECT_EQ(caps.ambient, 0U);
  for (const char* name : {"CAP_SYS_ADMIN", "CAP_NET_RAW", "CAP_MKNOD", "CAP_SYS_PTRACE", "CAP_NET_ADMIN"}) {
    EXPECT_EQ((caps.bounding >> *oci::capability_number(name)) & 1, 0U) << name;
  }
  EXPECT_EQ((caps.bounding >> *oci::capability_number("CAP_CHOWN")) & 1, 1U);
  HostView few = root_view();
  few.bounding = 1;  // CAP_CHOWN
  EXPECT_EQ(spec({"true"}, few).process->capabilities->bounding, 1U);
  HostView other = root_view();
  other.uid = 33;
  EXPECT_EQ(spec({"true"}, other).process->capabilities->effective, 0U);
}

TEST(Box, WithoutACommandAShell) {
  HostView view = root_view();
  view.shell = "/bin/bash";
  EXPECT_EQ(spec({}, view).process->args, std::vector<std::string>{"/bin/bash"});
}

TEST(Box, OrdinaryUsersGetAUserNamespaceAndAReadOnlyRoot) {
  const oci::Spec s = spec({"true"}, user_view());
  EXPECT_TRUE(s.has_new_namespace(oci::NamespaceType::user));
  EXPECT_EQ(s.linux_.uid_mappings, (std::vector<oci::IdMapping>{{0, 1000, 1}}));
  EXPECT_EQ(s.linux_.gid_mappings, (std::vector<oci::IdMapping>{{0, 1001, 1}}));
  EXPECT_TRUE(s.root.readonly);
  EXPECT_FALSE(s.annotations.contains(oci::kAnnotationRootOverlay));
  EXPECT_FALSE(s.linux_.resources && s.linux_.resources->pids_limit) << "there is no cgroup to write it to";
}

TEST(Box, WhatIsMountedBelowAReadOnlyRootIsReadOnlyToo) {
  HostView view = root_view();
  view.submounts = {"/data"};
  EXPECT_EQ(mount_at(spec({"true"}, view), "/data"), nullptr) << "the overlay takes what is written there";
  for (const char* option : {"--userns", "--read-only"}) {
    const oci::Spec s = spec({option, "--bind", "/a:/data/b", "true"}, view);
    ASSERT_NE(mount_at(s, "/data"), nullptr) << option;
    EXPECT_EQ(mount_at(s, "/data")->source, "/data");
    EXPECT_TRUE(has(mount_at(s, "/data")->options, "rro"));
    EXPECT_EQ(s.mounts.back().destination, "/data/b") << "what was asked for stays writable";
  }
}

TEST(Box, SubmountsAreWritableAndHoldFiles) {
  EXPECT_EQ(parse_submounts("21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                            "22 21 0:5 / /proc rw - proc proc rw\n"
                            "23 21 0:6 / /sys/fs/cgroup rw - cgroup2 x rw\n"
                            "24 21 8:2 / /data\\040x/y rw,nosuid shared:2 - ext4 /dev/sdb rw\n"
                            "25 21 8:3 / /system rw - ext4 /dev/sdc rw\n"
                            "26 24 8:4 / /data\\040x rw - ext4 /dev/sdd rw\n"
                            "27 21 8:5 / /only ro,nosuid - ext4 /dev/sde rw\n"
                            "28 21 0:7 / /auto rw - autofs x rw\n"
                            "29 25 8:6 / /system/a rw - ext4 /dev/sdf rw\n"
                            "nonsense\n"),
            (std::vector<std::string>{"/system", "/data x"}));
}

TEST(Box, MasksDoNotCoverBinds) {
  HostView view = root_view();
  view.masked = {"/mnt", "/srv", "/etc/shadow"};
  const oci::Spec s = spec({"--bind", "/a:/mnt/x", "--bind", "/b:/etc//shadow", "true"}, view);
  EXPECT_FALSE(has(s.linux_.masked_paths, "/mnt")) << "an empty folder mounted before does the same";
  EXPECT_EQ(mount_at(s, "/mnt")->type, "tmpfs");
  EXPECT_FALSE(has(s.linux_.masked_paths, "/etc/shadow"));
  EXPECT_TRUE(has(s.linux_.masked_paths, "/srv"));
}

TEST(Box, UserNamespaceOfRootKeepsNumbersAndIsReadOnly) {
  const oci::Spec s = spec({"--userns", "true"});
  EXPECT_EQ(s.linux_.uid_mappings, (std::vector<oci::IdMapping>{{0, 0, 65536}}));
  EXPECT_TRUE(s.root.readonly);
  EXPECT_FALSE(s.annotations.contains(oci::kAnnotationRootOverlay));
}

TEST(Box, RootfsIsTakenAsItIs) {
  const oci::Spec s = spec({"--rootfs", "alpine", "--read-only", "true"});
  EXPECT_EQ(s.root.path, "/work/alpine");
  EXPECT_TRUE(s.root.readonly);
  EXPECT_FALSE(s.annotations.contains(oci::kAnnotationRootOverlay));
  EXPECT_EQ(mount_at(s, "/root"), nullptr);
  EXPECT_FALSE(has(s.linux_.masked_paths, "/etc/shadow"));
}

TEST(Box, Limits) {
  const oci::Spec s = spec({"--memory", "512M", "--cpus", "1.5", "--pids", "0", "true"});
  EXPECT_EQ(s.linux_.resources->memory->limit, std::int64_t{512} << 20);
  EXPECT_EQ(s.linux_.resources->cpu->quota, 150000);
  EXPECT_EQ(s.linux_.resources->cpu->period, 100000U);
  EXPECT_FALSE(s.linux_.resources->pids_limit.has_value());
}

TEST(Box, NetworkOfTheHost) {
  HostView view = root_view();
  view.resolver = "/run/systemd/resolve/stub-resolv.conf";
  const oci::Spec s = spec({"--net", "host", "true"}, view);
  EXPECT_EQ(s.find_namespace(oci::NamespaceType::network), nullptr);
  EXPECT_NE(mount_at(s, view.resolver), nullptr);
  const oci::Spec with_userns = spec({"--net", "host", "--userns", "true"}, view);
  EXPECT_EQ(mount_at(with_userns, "/sys")->source, "/sys") << "no sysfs of its own is allowed there";
}

TEST(Box, BindsComeLast) {
  const oci::Spec s = spec({"--bind", "src:/root/x:ro", "--bind", "/a:/b", "true"});
  const oci::Mount& last = s.mounts.back();
  EXPECT_EQ(last.source, "/a");
  EXPECT_EQ(last.destination, "/b");
  EXPECT_FALSE(has(last.options, "rro"));
  const oci::Mount& first = s.mounts[s.mounts.size() - 2];
  EXPECT_EQ(first.source, "/work/src");
  EXPECT_TRUE(has(first.options, "rro"));
  EXPECT_TRUE(has(first.options, "nosuid"));
}

TEST(Box, TerminalCanBeChosen) {
  EXPECT_FALSE(spec({"--tty=false", "true"}).process->terminal);
  HostView no_tty = root_view();
  no_tty.tty = false;
  EXPECT_FALSE(spec({"true"}, no_tty).process->terminal);
  EXPECT_TRUE(spec({"-t", "true"}, no_tty).process->terminal);
}

TEST(Box, TheTerminalHasTheCallersSize) {
  HostView view = root_view();
  view.size = oci::ConsoleSize{27, 93};
  EXPECT_EQ(spec({"true"}, view).process->console_size->height, 27);
  EXPECT_EQ(spec({"true"}, view).process->console_size->width, 93);
  EXPECT_FALSE(spec({"--tty=false", "true"}, view).process->console_size.has_value());
}

TEST(Box, AnInitComesWithATerminal) {
  EXPECT_TRUE(options({"sh"}).init);
  EXPECT_FALSE(options({"--init=false", "sh"}).init);
  EXPECT_FALSE(options({"--tty=false", "sh"}).init);
  EXPECT_TRUE(options({"--tty=false", "--init", "sh"}).init);
}

TEST(Box, SeccompCanBeChosen) {
  EXPECT_FALSE(spec({"--seccomp", "off", "true"}).linux_.seccomp.has_value());
  HostView view = root_view();
  view.seccomp.emplace();
  view.seccomp->default_action = "SCMP_ACT_LOG";
  EXPECT_EQ(spec({"--seccomp", "/file", "true"}, view).linux_.seccomp->default_action, "SCMP_ACT_LOG");
}

TEST(Box, Sizes) {
  EXPECT_EQ(parse_size("1", "m"), 1);
  EXPECT_EQ(parse_size("2k", "m"), 2048);
  EXPECT_EQ(parse_size("3M", "m"), 3 << 20);
  EXPECT_EQ(parse_size("3MiB", "m"), 3 << 20);
  EXPECT_EQ(parse_size("4G", "m"), std::int64_t{4} << 30);
  EXPECT_EQ(parse_size("5T", "m"), std::int64_t{5} << 40);
  EXPECT_EQ(parse_size("6b", "m"), 6);
  for (const char* bad : {"", "0", "-1", "x", "1x", "1.5G", "M", "B", "99999999999T", "1 M"}) {
    EXPECT_THROW(parse_size(bad, "m"), Error) << bad;
  }
}

TEST(Box, Cpus) {
  EXPECT_EQ(parse_cpus("1"), 1000);
  EXPECT_EQ(parse_cpus("1.5"), 1500);
  EXPECT_EQ(parse_cpus("0.01"), 10);
  EXPECT_EQ(parse_cpus("0.125"), 125);
  for (const char* bad : {"", "0", "0.009", "-1", ".5", "1.", "1.5.5", "1e3", "1.-5", "1.2345", "100001"}) {
    EXPECT_THROW(parse_cpus(bad), Error) << bad;
  }
}

TEST(Box, Binds) {
  EXPECT_EQ(parse_bind("/a:/b", "/w").source, "/a");
  EXPECT_EQ(parse_bind("a:/b:rw", "/w").source, "/w/a");
  EXPECT_TRUE(parse_bind("a:/b:ro", "/w").read_only);
  for (const char* bad : {"", "a", "a:b", ":/b", "a:/b:x", "a:/b:ro:ro", "a:"})
    EXPECT_THROW(parse_bind(bad, "/w"), Error) << bad;
}

TEST(Box, Refuses) {
  EXPECT_THROW(options({"--user", "33", "x"}, user_view()), Error) << "one user only";
  EXPECT_NO_THROW(options({"--user", "0", "x"}, user_view()));
  for (const auto& words : std::vector<std::vector<std::string>>{{"--net", "bridge", "x"},
                                                                 {"--workdir", "a", "x"},
                                                                 {"-e", "=a", "x"},
                                                                 {"-e", "", "x"},
                                                                 {"--pids", "-1", "x"},
                                                                 {"--pids", "many", "x"}}) {
    EXPECT_THROW(options(words), Error) << words[0] << " " << words[1];
  }
}

TEST(Box, StatusTellsWhoseFaultItWas) {
  EXPECT_EQ(box_status(Error(ErrorKind::kernel, "mount proc: operation not permitted", EPERM)), 125);
  EXPECT_EQ(box_status(Error(ErrorKind::not_found, "open /x: no such file or directory", ENOENT)), 125);
  EXPECT_EQ(box_status(Error(ErrorKind::child, "box a: exec: \"x\": executable file not found in $PATH")), 127);
  EXPECT_EQ(box_status(Error(ErrorKind::child, "box a: exec: \"/x\": no such file or directory", ENOENT)), 127);
  EXPECT_EQ(box_status(Error(ErrorKind::child, "box a: exec: \"/x\": permission denied", EACCES)), 126);
  EXPECT_EQ(box_status(Error(ErrorKind::child, "box a: exec: \"/x\": exec format error", ENOEXEC)), 126);
}

}  // namespace
}  // namespace tare::cli
