// A config.json that uses every property of the specification that tare has a field for, each with
// a value of its own, so that a field read or written in the wrong place shows.
#pragma once

namespace tare::oci::test {

inline const char* const kFullConfig = R"({
  "ociVersion": "1.3.0-rc.1+build.5",
  "process": {
    "terminal": true,
    "consoleSize": {"height": 25, "width": 80},
    "user": {"uid": 1, "gid": 2, "umask": 18, "additionalGids": [3, 4, 3]},
    "args": ["sh", "-c", "echo \"x\"\n"],
    "env": ["PATH=/bin", "A=b=c", "EMPTY="],
    "cwd": "/work",
    "capabilities": {
      "bounding": ["CAP_CHOWN", "CAP_KILL", "CAP_NET_RAW", "CAP_CHECKPOINT_RESTORE"],
      "effective": ["CAP_CHOWN", "CAP_KILL"],
      "inheritable": ["CAP_KILL"],
      "permitted": ["CAP_CHOWN", "CAP_KILL", "CAP_NET_RAW"],
      "ambient": ["CAP_KILL"]
    },
    "rlimits": [
      {"type": "RLIMIT_NOFILE", "soft": 1024, "hard": 4096},
      {"type": "RLIMIT_CORE", "soft": 0, "hard": 18446744073709551615}
    ],
    "noNewPrivileges": true,
    "apparmorProfile": "aa",
    "selinuxLabel": "se",
    "oomScoreAdj": -7,
    "scheduler": {"policy": "SCHED_DEADLINE", "flags": ["SCHED_FLAG_RESET_ON_FORK", "SCHED_FLAG_UTIL_CLAMP_MAX"],
                  "runtime": 11, "deadline": 12, "period": 13},
    "ioPriority": {"class": "IOPRIO_CLASS_BE", "priority": 5},
    "execCPUAffinity": {"initial": "0-1,3", "final": "2"}
  },
  "root": {"path": "root fs", "readonly": true},
  "hostname": "host",
  "domainname": "domain",
  "mounts": [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/data", "type": "none", "source": "/srv", "options": ["rbind", "ro"],
     "uidMappings": [{"containerID": 0, "hostID": 100, "size": 10}],
     "gidMappings": [{"containerID": 0, "hostID": 200, "size": 20}]}
  ],
  "hooks": {
    "prestart": [{"path": "/h/1"}],
    "createRuntime": [{"path": "/h/2", "args": ["2", "x"], "env": ["K=V"], "timeout": 3}],
    "createContainer": [{"path": "/h/3"}],
    "startContainer": [{"path": "/h/4"}],
    "poststart": [{"path": "/h/5"}],
    "poststop": [{"path": "/h/6"}, {"path": "/h/7"}]
  },
  "annotations": {"org.example.a": "1", "empty": ""},
  "linux": {
    "namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "mount"}, {"type": "ipc", "path": "/proc/1/ns/ipc"},
                   {"type": "uts"}, {"type": "user"}, {"type": "cgroup"}, {"type": "time"}],
    "uidMappings": [{"containerID": 0, "hostID": 1000, "size": 1}, {"containerID": 1, "hostID": 100000, "size": 65536}],
    "gidMappings": [{"containerID": 0, "hostID": 2000, "size": 70000}],
    "timeOffsets": {"monotonic": {"secs": -5, "nanosecs": 999999999}, "boottime": {"secs": 6}},
    "devices": [
      {"type": "c", "path": "/dev/fuse", "major": 10, "minor": 229, "fileMode": 438, "uid": 5, "gid": 6},
      {"type": "p", "path": "/dev/fifo"}, {"type": "b", "path": "/dev/sdx", "major": 8, "minor": 1048575}
    ],
    "netDevices": {"eth0": {"name": "net0"}, "eth1": {}},
    "cgroupsPath": "/a/b",
    "resources": {
      "devices": [{"allow": false, "access": "rwm"}, {"allow": true, "type": "c", "major": 1, "minor": 3, "access": "rw"},
                  {"allow": true, "type": "b", "major": 8}],
      "memory": {"limit": 1000, "reservation": 900, "swap": 2000, "kernel": -1, "kernelTCP": 800, "swappiness": 60,
                 "disableOOMKiller": false, "useHierarchy": true, "checkBeforeUpdate": false},
      "cpu": {"shares": 1024, "quota": 50000, "burst": 1000, "period": 100000, "realtimeRuntime": 950,
              "realtimePeriod": 1001, "cpus": "0-1", "mems": "0", "idle": 1},
      "pids": {"limit": 0},
      "blockIO": {"weight": 10, "leafWeight": 1000, "weightDevice": [{"major": 8, "minor": 1, "weight": 500, "leafWeight": 300}],
                  "throttleReadBpsDevice": [{"major": 8, "minor": 2, "rate": 1}],
                  "throttleWriteBpsDevice": [{"major": 8, "minor": 3, "rate": 2}],
                  "throttleReadIOPSDevice": [{"major": 8, "minor": 4, "rate": 3}],
                  "throttleWriteIOPSDevice": [{"major": 8, "minor": 5, "rate": 18446744073709551615}]},
      "hugepageLimits": [{"pageSize": "2MB", "limit": 4}],
      "network": {"classID": 4294967295, "priorities": [{"name": "lo", "priority": 7}]},
      "rdma": {"mlx5_1": {"hcaHandles": 3, "hcaObjects": 10000}, "mlx4_0": {"hcaObjects": 1}},
      "unified": {"memory.high": "1", "io.max": "8:0 rbps=1"}
    },
    "intelRdt": {"closID": "guaranteed", "schemata": ["L3:0=7f0"], "l3CacheSchema": "L3:0=ff", "memBwSchema": "MB:0=20",
                 "enableMonitoring": true},
    "memoryPolicy": {"mode": "MPOL_INTERLEAVE", "nodes": "0-3,7", "flags": ["MPOL_F_STATIC_NODES"]},
    "sysctl": {"net.ipv4.ip_forward": "1", "kernel.shmmax": "2"},
    "seccomp": {
      "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38,
      "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"], "flags": ["SECCOMP_FILTER_FLAG_LOG"],
      "listenerPath": "/run/l.sock", "listenerMetadata": "meta",
      "syscalls": [
        {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["clone"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1,
         "args": [{"index": 2, "value": 18446744073709551615, "valueTwo": 9, "op": "SCMP_CMP_MASKED_EQ"}]},
        {"names": ["mount"], "action": "SCMP_ACT_NOTIFY"}
      ]
    },
    "rootfsPropagation": "rslave",
    "maskedPaths": ["/proc/kcore"],
    "readonlyPaths": ["/proc/sys", "/proc/bus"],
    "mountLabel": "label",
    "personality": {"domain": "LINUX32"}
  }
})";

}  // namespace tare::oci::test
