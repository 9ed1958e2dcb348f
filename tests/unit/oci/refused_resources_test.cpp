// What is refused in linux.resources and linux.seccomp: one row a rule, with the whole message.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "config.hpp"

namespace tare::oci::test {
namespace {

struct Refused {
  const char* object;  // linux.resources or linux.seccomp
  const char* error;   // what follows the prefix
};

std::string error_in(const char* name, const Refused& row) {
  return read_config(patched(cat(R"({"linux": {")", name, R"(": )", row.object, "}}"))).error;
}

TEST(Refused, Resources) {
  const Refused rows[] = {
      {R"([])", "config.json: linux.resources: must be an object, not an array"},
      {R"({"devices": [{}]})", "config.json: linux.resources.devices[0].allow: missing"},
      {R"({"devices": [{"allow": 1}]})",
       "config.json: linux.resources.devices[0].allow: must be true or false, not an integer"},
      {R"({"devices": [{"allow": true, "type": "u"}]})",
       "config.json: linux.resources.devices[0].type: unknown device type \"u\", known are a, b and c"},
      {R"({"devices": [{"allow": true, "access": "rx"}]})",
       "config.json: linux.resources.devices[0].access: may hold only r, w and m"},
      {R"({"devices": [{"allow": true, "major": -2}]})",
       "config.json: linux.resources.devices[0].major: must be from -1 to 4294967295"},
      {R"({"memory": {"limit": -2}})",
       "config.json: linux.resources.memory.limit: must be from -1 to 9223372036854775807"},
      {R"({"memory": {"limit": "64m"}})",
       "config.json: linux.resources.memory.limit: must be an integer, not a string"},
      {R"({"memory": {"limit": 9223372036854775808}})",
       "config.json: linux.resources.memory.limit: must be from -1 to 9223372036854775807"},
      {R"({"memory": {"swap": 10}})",
       "linux.resources.memory.swap: needs a limit of memory, of which it is the sum with swap"},
      {R"({"memory": {"limit": 10, "swap": 9}})",
       "linux.resources.memory.swap: 9 is below the limit of memory, 10, of which it is the sum with swap"},
      {R"({"memory": {"swappiness": 101}})", "linux.resources.memory.swappiness: 101 is not from 0 to 100"},
      {R"({"cpu": {"idle": 2}})", "linux.resources.cpu.idle: 2 is not 0 or 1"},
      {R"({"cpu": {"quota": 100, "burst": 101}})", "linux.resources.cpu.burst: 101 is above the quota of 100"},
      {R"({"cpu": {"shares": -1}})", "config.json: linux.resources.cpu.shares: must be from 0 to 18446744073709551615"},
      {R"({"cpu": {"quota": -2}})", "config.json: linux.resources.cpu.quota: must be from -1 to 9223372036854775807"},
      {R"({"pids": {"limit": -2}})", "config.json: linux.resources.pids.limit: must be from -1 to 9223372036854775807"},
      {R"({"blockIO": {"weight": 9}})", "linux.resources.blockIO.weight: 9 is not from 10 to 1000"},
      {R"({"blockIO": {"leafWeight": 1001}})", "linux.resources.blockIO.leafWeight: 1001 is not from 10 to 1000"},
      {R"({"blockIO": {"weight": 65536}})", "config.json: linux.resources.blockIO.weight: must be from 0 to 65535"},
      {R"({"blockIO": {"weightDevice": [{"major": 8, "minor": 0}]}})",
       "linux.resources.blockIO.weightDevice[0].weight: missing, as is leafWeight"},
      {R"({"blockIO": {"weightDevice": [{"major": 8, "minor": 0, "leafWeight": 1}]}})",
       "linux.resources.blockIO.weightDevice[0].leafWeight: 1 is not from 10 to 1000"},
      {R"({"blockIO": {"throttleReadBpsDevice": [{"major": 8, "minor": 0}]}})",
       "config.json: linux.resources.blockIO.throttleReadBpsDevice[0].rate: missing"},
      {R"({"blockIO": {"throttleWriteIOPSDevice": [{"minor": 0, "rate": 1}]}})",
       "config.json: linux.resources.blockIO.throttleWriteIOPSDevice[0].major: missing"},
      {R"({"hugepageLimits": [{"pageSize": "2M", "limit": 1}]})",
       "linux.resources.hugepageLimits[0].pageSize: \"2M\" is no size like 2MB"},
      {R"({"hugepageLimits": [{"pageSize": "02MB", "limit": 1}]})",
       "linux.resources.hugepageLimits[0].pageSize: \"02MB\" is no size like 2MB"},
      {R"({"hugepageLimits": [{"pageSize": "2xMB", "limit": 1}]})",
       "linux.resources.hugepageLimits[0].pageSize: \"2xMB\" is no size like 2MB"},
      {R"({"hugepageLimits": [{"pageSize": "../2MB", "limit": 1}]})",
       "linux.resources.hugepageLimits[0].pageSize: \"../2MB\" is no size like 2MB"},
      {R"({"network": {"classID": 4294967296}})",
       "config.json: linux.resources.network.classID: must be from 0 to 4294967295"},
      {R"({"network": {"priorities": [{"name": "lo"}]}})",
       "config.json: linux.resources.network.priorities[0].priority: missing"},
      {R"({"rdma": {"mlx5": {}}})", "linux.resources.rdma.mlx5: needs hcaHandles or hcaObjects"},
      {R"({"unified": {"../memory.max": "1"}})",
       "linux.resources.unified: \"../memory.max\" is no name of a cgroup file"},
      {R"({"unified": {"": "1"}})", "linux.resources.unified: \"\" is no name of a cgroup file"},
      {R"({"unified": {"..": "1"}})", "linux.resources.unified: \"..\" is no name of a cgroup file"},
      {R"({"unified": {"memory.max\u0000x": "1"}})",
       "config.json: linux.resources.unified: a key holds the character U+0000"},
  };
  for (const auto& row : rows) EXPECT_EQ(error_in("resources", row), row.error) << row.object;
}

TEST(Refused, Seccomp) {
  const Refused rows[] = {
      {R"({})", "config.json: linux.seccomp.defaultAction: missing"},
      {R"({"defaultAction": "ALLOW"})", "linux.seccomp.defaultAction: unknown \"ALLOW\""},
      {R"({"defaultAction": "SCMP_ACT_NOTIFY"})", "linux.seccomp.defaultAction: SCMP_ACT_NOTIFY can't be the default"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "defaultErrnoRet": 1})",
       "linux.seccomp.defaultErrnoRet: means nothing to SCMP_ACT_ALLOW"},
      {R"({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 4096})",
       "linux.seccomp.defaultErrnoRet: 4096 is not from 0 to 4095"},
      {R"({"defaultAction": "SCMP_ACT_TRACE", "defaultErrnoRet": 65536})",
       "linux.seccomp.defaultErrnoRet: 65536 is not from 0 to 65535"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86", "x86"]})",
       "linux.seccomp.architectures[1]: unknown \"x86\""},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "flags": ["TSYNC"]})", "linux.seccomp.flags[0]: unknown \"TSYNC\""},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"action": "SCMP_ACT_LOG"}]})",
       "config.json: linux.seccomp.syscalls[0].names: missing"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": [], "action": "SCMP_ACT_LOG"}]})",
       "linux.seccomp.syscalls[0].names: must name a system call"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read", ""], "action": "SCMP_ACT_LOG"}]})",
       "linux.seccomp.syscalls[0].names[1]: is empty"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"]}]})",
       "config.json: linux.seccomp.syscalls[0].action: missing"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "X"}]})",
       "linux.seccomp.syscalls[0].action: unknown \"X\""},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_KILL", "errnoRet": 1}]})",
       "linux.seccomp.syscalls[0].errnoRet: means nothing to SCMP_ACT_KILL"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_LOG",
           "args": [{"index": 6, "value": 0, "op": "SCMP_CMP_EQ"}]}]})",
       "linux.seccomp.syscalls[0].args[0].index: 6 is not from 0 to 5"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_LOG",
           "args": [{"index": 0, "value": 0, "op": "=="}]}]})",
       "linux.seccomp.syscalls[0].args[0].op: unknown \"==\""},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_LOG",
           "args": [{"index": 0, "op": "SCMP_CMP_EQ"}]}]})",
       "config.json: linux.seccomp.syscalls[0].args[0].value: missing"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_LOG",
           "args": [{"index": 0, "value": -1, "op": "SCMP_CMP_EQ"}]}]})",
       "config.json: linux.seccomp.syscalls[0].args[0].value: must be from 0 to 18446744073709551615"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_NOTIFY"}]})",
       "linux.seccomp.listenerPath: missing, SCMP_ACT_NOTIFY needs it"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "listenerMetadata": "x"})",
       "linux.seccomp.listenerMetadata: means nothing without listenerPath"},
  };
  for (const auto& row : rows) EXPECT_EQ(error_in("seccomp", row), row.error) << row.object;
}

// Id maps and the user that must be in them.
TEST(Refused, Mappings) {
  const auto error = [](const std::string& uids, const std::string& user) {
    return read_config(patched(cat(R"({"process": {"user": )", user, R"(}, "linux": {
      "namespaces": [{"type": "mount"}, {"type": "user"}], "uidMappings": )",
                                   uids, R"(, "gidMappings": [{"containerID": 0, "hostID": 5, "size": 10}]}})")))
        .error;
  };
  const auto line = [](std::uint64_t inside, std::uint64_t outside, std::uint64_t size) {
    return cat(R"({"containerID": )", inside, R"(, "hostID": )", outside, R"(, "size": )", size, "}");
  };
  const auto list = [](const std::vector<std::string>& lines) { return cat("[", join(lines, ","), "]"); };
  const std::string root = R"({"uid": 0, "gid": 0})";
  EXPECT_EQ(error(list({line(0, 0, 4294967295)}), root), "");
  EXPECT_EQ(error(list({line(0, 1000, 10), line(10, 1010, 1)}), root), "");
  EXPECT_EQ(error(list({line(0, 0, 0)}), root), "linux.uidMappings[0].size: must be above 0");
  EXPECT_EQ(error(list({line(1, 0, 4294967295)}), root), "linux.uidMappings[0].size: goes past the largest id");
  EXPECT_EQ(error(list({line(0, 4294967294, 2)}), root), "linux.uidMappings[0].size: goes past the largest id");
  EXPECT_EQ(error(list({line(0, 0, 10), line(9, 100, 1)}), root),
            "linux.uidMappings[1].containerID: overlaps another line");
  EXPECT_EQ(error(list({line(9, 100, 1), line(0, 0, 10)}), root),
            "linux.uidMappings[1].containerID: overlaps another line");
  EXPECT_EQ(error(list({line(0, 100, 10), line(10, 109, 1)}), root),
            "linux.uidMappings[1].hostID: overlaps another line");
  EXPECT_EQ(error(list({line(0, 0, 5)}), R"({"uid": 5, "gid": 0})"), "process.user.uid: 5 is not in linux.uidMappings");
  EXPECT_EQ(error(list({line(0, 0, 5)}), R"({"uid": 4, "gid": 10})"),
            "process.user.gid: 10 is not in linux.gidMappings");
  EXPECT_EQ(error(list({line(0, 0, 5)}), R"({"uid": 4, "gid": 9, "additionalGids": [1, 11]})"),
            "process.user.additionalGids[1]: 11 is not in linux.gidMappings");
  std::vector<std::string> many;
  for (std::uint64_t i = 0; i < 340; ++i) many.push_back(line(i, i, 1));
  EXPECT_EQ(error(list(many), root), "");
  many.push_back(line(340, 340, 1));
  EXPECT_EQ(error(list(many), root), "linux.uidMappings: 341 lines are more than the kernel's 340");
}

}  // namespace
}  // namespace tare::oci::test
