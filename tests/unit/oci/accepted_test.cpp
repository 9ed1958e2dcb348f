// What is read: every property in its field; what is ignored, warned about, or brought into form.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "config.hpp"
#include "full_config.hpp"
#include "oci/names.hpp"

namespace tare::oci::test {
namespace {

using Strings = std::vector<std::string>;

std::uint64_t bits(std::initializer_list<const char*> names) {
  std::uint64_t set = 0;
  for (const char* name : names) set |= std::uint64_t{1} << capability_number(name).value();
  return set;
}

TEST(Accepted, FullProcess) {
  const auto outcome = read_config(kFullConfig);
  EXPECT_EQ(outcome.error, "process.selinuxLabel: not supported yet");
  EXPECT_EQ(outcome.warnings, Strings{});
  const Spec& spec = outcome.spec;
  EXPECT_EQ(spec.oci_version, "1.3.0-rc.1+build.5");
  const Process& process = spec.process.value();
  EXPECT_TRUE(process.terminal);
  EXPECT_EQ(process.console_size, (ConsoleSize{25, 80}));
  EXPECT_EQ(process.user, (User{1, 2, 18, {3, 4, 3}}));
  EXPECT_EQ(process.args, (Strings{"sh", "-c", "echo \"x\"\n"}));
  EXPECT_EQ(process.env, (Strings{"PATH=/bin", "A=b=c", "EMPTY="}));
  EXPECT_EQ(process.cwd, "/work");
  const Capabilities& caps = process.capabilities.value();
  EXPECT_EQ(caps.bounding, bits({"CAP_CHOWN", "CAP_KILL", "CAP_NET_RAW", "CAP_CHECKPOINT_RESTORE"}));
  EXPECT_EQ(caps.effective, bits({"CAP_CHOWN", "CAP_KILL"}));
  EXPECT_EQ(caps.inheritable, bits({"CAP_KILL"}));
  EXPECT_EQ(caps.permitted, bits({"CAP_CHOWN", "CAP_KILL", "CAP_NET_RAW"}));
  EXPECT_EQ(caps.ambient, bits({"CAP_KILL"}));
  EXPECT_EQ(process.rlimits, (std::vector<Rlimit>{{7, 1024, 4096}, {4, 0, UINT64_MAX}}));
  EXPECT_TRUE(process.no_new_privileges);
  EXPECT_EQ(process.apparmor_profile, "aa");
  EXPECT_EQ(process.selinux_label, "se");
  EXPECT_EQ(process.oom_score_adj, -7);
  EXPECT_EQ(process.scheduler, (Scheduler{6, 0, 0, 0x41, 11, 12, 13}));
  EXPECT_EQ(process.io_priority, (IoPriority{2, 5}));
  EXPECT_EQ(process.exec_cpu_affinity, (ExecCpuAffinity{"0-1,3", "2"}));
}

TEST(Accepted, FullTop) {
  const Spec spec = read_config(kFullConfig).spec;
  EXPECT_EQ(spec.root, (Root{"root fs", true}));
  EXPECT_EQ(spec.hostname, "host");
  EXPECT_EQ(spec.domainname, "domain");
  ASSERT_EQ(spec.mounts.size(), 2U);
  EXPECT_EQ(spec.mounts[0], (Mount{"/proc", "proc", "proc", {}, {}, {}}));
  EXPECT_EQ(spec.mounts[1],
            (Mount{"/data", "none", "/srv", {"rbind", "ro"}, {IdMapping{0, 100, 10}}, {IdMapping{0, 200, 20}}}));
  EXPECT_EQ(spec.hooks.prestart, (std::vector<Hook>{{"/h/1", {}, {}, {}}}));
  EXPECT_EQ(spec.hooks.create_runtime, (std::vector<Hook>{{"/h/2", {"2", "x"}, {"K=V"}, 3}}));
  EXPECT_EQ(spec.hooks.create_container.at(0).path, "/h/3");
  EXPECT_EQ(spec.hooks.start_container.at(0).path, "/h/4");
  EXPECT_EQ(spec.hooks.poststart.at(0).path, "/h/5");
  EXPECT_EQ(spec.hooks.poststop.at(1).path, "/h/7");
  EXPECT_EQ(spec.annotations, (std::map<std::string, std::string>{{"org.example.a", "1"}, {"empty", ""}}));
}

TEST(Accepted, FullLinux) {
  const Linux linux_ = read_config(kFullConfig).spec.linux_;
  ASSERT_EQ(linux_.namespaces.size(), 8U);
  EXPECT_EQ(linux_.namespaces[3], (Namespace{NamespaceType::ipc, "/proc/1/ns/ipc"}));
  EXPECT_EQ(linux_.namespaces[7], (Namespace{NamespaceType::time, ""}));
  EXPECT_EQ(linux_.uid_mappings, (std::vector<IdMapping>{{0, 1000, 1}, {1, 100000, 65536}}));
  EXPECT_EQ(linux_.gid_mappings, (std::vector<IdMapping>{{0, 2000, 70000}}));
  EXPECT_EQ(linux_.monotonic_offset, (TimeOffset{-5, 999999999}));
  EXPECT_EQ(linux_.boottime_offset, (TimeOffset{6, 0}));
  EXPECT_EQ(linux_.devices, (std::vector<Device>{{'c', "/dev/fuse", 10, 229, 0666, 5, 6},
                                                 {'p', "/dev/fifo", 0, 0, {}, {}, {}},
                                                 {'b', "/dev/sdx", 8, 1048575, {}, {}, {}}}));
  EXPECT_EQ(linux_.net_devices, (std::map<std::string, std::string>{{"eth0", "net0"}, {"eth1", "eth1"}}));
  EXPECT_EQ(linux_.cgroups_path, "/a/b");
  EXPECT_EQ(linux_.intel_rdt, (IntelRdt{"guaranteed", {"L3:0=7f0"}, "L3:0=ff", "MB:0=20", true}));
  EXPECT_EQ(linux_.memory_policy, (MemoryPolicy{"MPOL_INTERLEAVE", "0-3,7", {"MPOL_F_STATIC_NODES"}}));
  EXPECT_EQ(linux_.sysctl.at("kernel.shmmax"), "2");
  EXPECT_EQ(linux_.rootfs_propagation, "rslave");
  EXPECT_EQ(linux_.masked_paths, Strings{"/proc/kcore"});
  EXPECT_EQ(linux_.readonly_paths, (Strings{"/proc/sys", "/proc/bus"}));
  EXPECT_EQ(linux_.mount_label, "label");
  EXPECT_EQ(linux_.personality, Personality{8});
  const Seccomp& seccomp = linux_.seccomp.value();
  EXPECT_EQ(seccomp.default_action, "SCMP_ACT_ERRNO");
  EXPECT_EQ(seccomp.default_errno_ret, 38U);
  EXPECT_EQ(seccomp.architectures, (Strings{"SCMP_ARCH_X86_64", "SCMP_ARCH_X86"}));
  EXPECT_EQ(seccomp.flags, Strings{"SECCOMP_FILTER_FLAG_LOG"});
  EXPECT_EQ(seccomp.listener_path, "/run/l.sock");
  EXPECT_EQ(seccomp.listener_metadata, "meta");
  EXPECT_EQ(seccomp.syscalls.at(0), (SeccompRule{{"read", "write"}, "SCMP_ACT_ALLOW", {}, {}}));
  EXPECT_EQ(seccomp.syscalls.at(1),
            (SeccompRule{{"clone"}, "SCMP_ACT_ERRNO", 1, {SeccompArg{2, UINT64_MAX, 9, "SCMP_CMP_MASKED_EQ"}}}));
}

TEST(Accepted, FullResources) {
  const Resources resources = read_config(kFullConfig).spec.linux_.resources.value();
  EXPECT_EQ(resources.devices,
            (std::vector<DeviceRule>{{false, 'a', {}, {}, "rwm"}, {true, 'c', 1, 3, "rw"}, {true, 'b', 8, {}, ""}}));
  EXPECT_EQ(resources.memory, (MemoryResources{1000, 900, 2000, -1, 800, 60, false, true, false}));
  EXPECT_EQ(resources.cpu, (CpuResources{1024, 50000, 1000, 100000, 950, 1001, "0-1", "0", 1}));
  EXPECT_EQ(resources.pids_limit, 0);
  const BlockIoResources& io = resources.block_io.value();
  EXPECT_EQ(io.weight, 10);
  EXPECT_EQ(io.leaf_weight, 1000);
  EXPECT_EQ(io.weight_device, (std::vector<WeightDevice>{{8, 1, 500, 300}}));
  EXPECT_EQ(io.throttle_read_bps, (std::vector<ThrottleDevice>{{8, 2, 1}}));
  EXPECT_EQ(io.throttle_write_bps, (std::vector<ThrottleDevice>{{8, 3, 2}}));
  EXPECT_EQ(io.throttle_read_iops, (std::vector<ThrottleDevice>{{8, 4, 3}}));
  EXPECT_EQ(io.throttle_write_iops, (std::vector<ThrottleDevice>{{8, 5, UINT64_MAX}}));
  EXPECT_EQ(resources.hugepage_limits, (std::vector<HugepageLimit>{{"2MB", 4}}));
  EXPECT_EQ(resources.network, (NetworkResources{4294967295U, {{"lo", 7}}}));
  EXPECT_EQ(resources.rdma, (std::map<std::string, RdmaLimit>{{"mlx5_1", {3, 10000}}, {"mlx4_0", {{}, 1}}}));
  EXPECT_EQ(resources.unified, (std::map<std::string, std::string>{{"memory.high", "1"}, {"io.max", "8:0 rbps=1"}}));
}

// Things that look odd and are right.
TEST(Accepted, WithoutAWord) {
  for (const char* patch : {
           R"({"unknown": {"a": [1, {"b": null}]}, "process": {"x": 1}, "linux": {"y": []}, "windows": {}, "vm": 5})",
           R"({"process": null})",
           R"({"hooks": null, "mounts": null, "annotations": null, "hostname": null})",
           R"({"process": {"user": null, "capabilities": null, "rlimits": null, "env": null}})",
           R"({"process": {"terminal": false, "consoleSize": {"height": 99999}}})",
           R"({"process": {"capabilities": {}}})",
           R"({"ociVersion": "1.0.2-dev"})",
           R"({"ociVersion": "1.0.0-rc5+x.y-z"})",
           R"({"ociVersion": "1.99.0"})",
           R"({"linux": null, "root": {"path": "/"}})",
           R"({"linux": {"resources": {"memory": {"limit": -1, "swap": -1}}}})",
           R"({"linux": {"resources": {"memory": {"limit": 10, "swap": 10}}}})",
           R"({"linux": {"resources": {"memory": {"limit": -1, "swap": 0}, "cpu": {"quota": -1, "burst": 5}}}})",
           R"({"linux": {"resources": {"pids": {"limit": -1}, "blockIO": {"weight": 0}, "cpu": {}, "memory": {}}}})",
           R"({"linux": {"resources": {"devices": [{"allow": true, "type": "", "major": -1, "minor": -1}]}}})",
           R"({"linux": {"devices": [{"type": "c", "path": "/dev/null", "major": 1, "minor": 3},
                                     {"type": "c", "path": "/dev/null/", "major": 1, "minor": 3}]}})",
           R"({"mounts": [{"destination": "/proc", "type": "proc"}, {"destination": "/proc/uptime", "source": "/x",
               "options": ["bind"]}, {"destination": "/processes", "type": "tmpfs"}]})",
           R"({"mounts": [{"destination": "/proc", "source": "/proc/", "options": ["rbind"]}]})",
           R"({"mounts": [{"destination": "/a", "type": "tmpfs", "source": "/b", "options": ["bind"]}]})",
           R"({"mounts": [{"destination": "/a", "type": "tmpfs", "options": ["bogus", "size=1"]}]})",
           R"({"linux": {"sysctl": {"net/ipv4/conf/eth0.1/forwarding": "1", "net.ipv4.conf.eth0/1.forwarding": "1"}}})",
           R"({"linux": {"namespaces": [{"type": "mount"}, {"type": "user", "path": "/proc/1/ns/user"}]}})",
           R"({"linux": {"namespaces": [{"type": "mount"}, {"type": "user", "path": "/proc/1/ns/user"}],
               "uidMappings": [{"containerID": 0, "hostID": 0, "size": 1}]}})",
           R"({"process": {"apparmorProfile": "unconfined", "selinuxLabel": ""}, "linux": {"netDevices": {}}})",
           R"({"linux": {"seccomp": {"defaultAction": "SCMP_ACT_TRACE", "defaultErrnoRet": 65535,
               "listenerPath": "/unused"}}})",
       }) {
    const auto outcome = read_config(patched(patch));
    EXPECT_EQ(outcome.error, "") << patch;
    EXPECT_EQ(outcome.warnings, Strings{}) << patch;
  }
}

// The full config has nothing wrong: what stands in its way is only what tare does not do yet, each
// by its name, and without all of that it passes.
TEST(Accepted, AllButWhatIsNotDoneYet) {
  auto config = nlohmann::json::parse(kFullConfig);
  const std::pair<const char*, const char*> unbuilt[] = {{"process", "selinuxLabel"}, {"process", "execCPUAffinity"},
                                                         {"linux", "mountLabel"},     {"linux", "netDevices"},
                                                         {"linux", "intelRdt"},       {"linux", "memoryPolicy"}};
  for (const auto& [object, property] : unbuilt) {
    EXPECT_EQ(read_config(config.dump()).error, cat(object, ".", property, ": not supported yet"));
    config[object].erase(property);
  }
  const auto outcome = read_config(config.dump());
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.warnings, Strings{});
}

struct Warned {
  const char* patch;
  Strings warnings;
};

TEST(Accepted, WithAWarning) {
  const Warned rows[] = {
      {R"({"process": {"capabilities": {"bounding": ["CAP_FOO", "CAP_KILL"], "permitted": ["CAP_FOO"]}}})",
       {"process.capabilities: unknown capability \"CAP_FOO\" left out"}},
      {R"({"process": {"capabilities": {"permitted": ["CAP_KILL"], "ambient": ["CAP_KILL"]}}})",
       {"process.capabilities.ambient: CAP_KILL left out, it is not both permitted and inheritable"}},
      {R"({"process": {"capabilities": {"inheritable": ["CAP_KILL"], "ambient": ["CAP_KILL"]}}})",
       {"process.capabilities.ambient: CAP_KILL left out, it is not both permitted and inheritable"}},
      {R"({"process": {"capabilities": {"effective": ["CAP_KILL"]}}})",
       {"process.capabilities.effective: CAP_KILL left out, it is not permitted"}},
      {R"({"mounts": [{"destination": "tmp", "type": "tmpfs"}]})",
       {"mounts[0].destination: \"tmp\" is not absolute, taken from /"}},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["bind", "sync", "ro"]}]})",
       {"mounts[0].options: sync has no effect on a bind mount"}},
      {R"({"linux": {"timeOffsets": {"realtime": {"secs": 1}}}})",
       {"linux.timeOffsets: unknown clock \"realtime\" left out"}},
  };
  for (const auto& row : rows) {
    const auto outcome = read_config(patched(row.patch));
    EXPECT_EQ(outcome.error, "") << row.patch;
    EXPECT_EQ(outcome.warnings, row.warnings) << row.patch;
  }
}

TEST(Accepted, CapabilitiesThatCannotBeAreLeftOut) {
  const auto outcome = read_config(patched(R"({"process": {"capabilities": {"effective": ["CAP_KILL", "CAP_CHOWN"],
      "permitted": ["CAP_KILL"], "inheritable": ["CAP_KILL"], "ambient": ["CAP_KILL", "CAP_CHOWN"]}}})"));
  const Capabilities& caps = outcome.spec.process->capabilities.value();
  EXPECT_EQ(caps.effective, bits({"CAP_KILL"}));
  EXPECT_EQ(caps.ambient, bits({"CAP_KILL"}));
}

TEST(Accepted, DevicesAreBroughtIntoForm) {
  // 8630 is 0o20666: some write stat's st_mode.
  const auto outcome = read_config(patched(
      R"({"linux": {"devices": [{"type": "u", "path": "/dev/x//", "major": 1, "minor": 3, "fileMode": 8630}]}})"));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.spec.linux_.devices, (std::vector<Device>{{'u', "/dev/x", 1, 3, 0666, {}, {}}}));
}

TEST(Accepted, OfRepeatedEnvironmentTheLastStaysInItsPlace) {
  Strings env = {"A=1", "B=2", "A=3", "C=4", "B=5", "AA=6"};
  drop_repeated_env(env);
  EXPECT_EQ(env, (Strings{"A=3", "C=4", "B=5", "AA=6"}));
  // What is wrong stays, so that validate can name it.
  Strings wrong = {"X", "=1"};
  drop_repeated_env(wrong);
  EXPECT_EQ(wrong, (Strings{"X", "=1"}));
  EXPECT_EQ(read_config(patched(R"({"process": {"env": ["A=1", "A=2"]}})")).spec.process->env, Strings{"A=2"});
}

TEST(Accepted, OfRepeatedKeysTheLastCounts) {
  std::string text = kConfig;
  text.insert(1, R"("hostname": "first", "hostname": "last", "annotations": {"a": "1", "a": "2"},)");
  const auto outcome = read_config(text);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.spec.hostname, "last");
  EXPECT_EQ(outcome.spec.annotations.at("a"), "2");
}

TEST(Ids, Check) {
  const auto error = [](const std::string& id) -> std::string {
    try {
      check_id(id);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      return e.text();
    }
    return "";
  };
  for (const char* good : {"a", "web1", "A_b+c.d-e", "0", "a..b", "_", "+"}) EXPECT_EQ(error(good), "") << good;
  EXPECT_EQ(error(std::string(255, 'a')), "");
  EXPECT_NE(error(std::string(256, 'a')), "");
  EXPECT_EQ(error(""), "container id \"\" is empty");
  EXPECT_EQ(error("a/b"), "container id \"a/b\" may hold only letters, digits and _ + . -");
  EXPECT_EQ(error("a\n"), "container id \"a\\x0a\" may hold only letters, digits and _ + . -");
  EXPECT_EQ(error(".hid"), "container id \".hid\" must not begin with '.' or '-'");
  for (const char* bad : {".", "..", "-x", " ", "a b", "\xc3\xbc", "a:b", "~", "*", "a\\b"})
    EXPECT_NE(error(bad), "") << bad;
  EXPECT_NE(error(std::string("a\0b", 3)), "");
}

TEST(Paths, Clean) {
  const std::pair<const char*, const char*> rows[] = {{"", "/"},
                                                      {".", "/"},
                                                      {"/", "/"},
                                                      {"//", "/"},
                                                      {"a", "/a"},
                                                      {"/a/", "/a"},
                                                      {"/a//b/./c", "/a/b/c"},
                                                      {"/a/../b", "/b"},
                                                      {"/..", "/"},
                                                      {"/../../a", "/a"},
                                                      {"/a/b/../..", "/"},
                                                      {"a/../..", "/"},
                                                      {"/a/..b/...", "/a/..b/..."}};
  for (const auto& [path, clean] : rows) EXPECT_EQ(clean_path(path), clean) << path;
}

TEST(Paths, Sysctl) {
  EXPECT_EQ(sysctl_path("net.ipv4.ip_forward"), "net/ipv4/ip_forward");
  EXPECT_EQ(sysctl_path("net/ipv4/conf/eth0.1/forwarding"), "net/ipv4/conf/eth0.1/forwarding");
  EXPECT_EQ(sysctl_path("net.ipv4.conf.eth0/1.forwarding"), "net/ipv4/conf/eth0.1/forwarding");
  for (const char* bad : {"", ".", "a..b", "a/../b", "a./.b", "a.//.b", "/a", "a/"})
    EXPECT_THROW(sysctl_path(bad), Error) << bad;
}

TEST(Alone, ProcessResourcesAndSeccomp) {
  Warnings warnings;
  const Process process = parse_process(R"({"cwd": "/", "args": ["a"], "env": ["A=1", "A=2"]})", "p.json", warnings);
  EXPECT_EQ(process.env, Strings{"A=2"});
  EXPECT_EQ(parse_resources(R"({"pids": {"limit": 5}})", "-").pids_limit, 5);
  EXPECT_EQ(parse_seccomp(R"({"defaultAction": "SCMP_ACT_LOG"})", "s").default_action, "SCMP_ACT_LOG");
  try {
    parse_process(R"({"cwd": "/", "user": {"uid": 4294967296}})", "p.json", warnings);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "p.json: user.uid: must be from 0 to 4294967294");
  }
}

}  // namespace
}  // namespace tare::oci::test
