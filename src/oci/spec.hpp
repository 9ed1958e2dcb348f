// config.json of the OCI runtime specification (1.0 to 1.3) as plain structs, for Linux.
//
// For: everything behind oci::parse. A field that the specification lets be absent is an optional
// or an empty container; numbers are kept as written (units: the specification's, named where they
// are not obvious). Names are the specification's, in snake case.
// Not for: knowing what a kernel can do (facts), or in which order things are done (plan).
// Source: opencontainers/runtime-spec, config.md and config-linux.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tare::oci {

struct IdMapping {
  std::uint32_t container_id = 0;
  std::uint32_t host_id = 0;
  std::uint32_t size = 0;
  bool operator==(const IdMapping&) const = default;
};

struct Mount {
  std::string destination;
  std::string type;
  std::string source;
  std::vector<std::string> options;
  std::vector<IdMapping> uid_mappings;
  std::vector<IdMapping> gid_mappings;
  bool operator==(const Mount&) const = default;
};

struct Hook {
  std::string path;
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::optional<int> timeout;  // seconds, > 0
  bool operator==(const Hook&) const = default;
};

struct Hooks {
  std::vector<Hook> prestart, create_runtime, create_container, start_container, poststart, poststop;
  bool operator==(const Hooks&) const = default;
};

struct Rlimit {
  int type = 0;  // RLIMIT_*
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
  bool operator==(const Rlimit&) const = default;
};

// Bit n stands for the capability with number n.
struct Capabilities {
  std::uint64_t bounding = 0, effective = 0, inheritable = 0, permitted = 0, ambient = 0;
  bool operator==(const Capabilities&) const = default;
};

struct User {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::optional<std::uint32_t> umask;
  std::vector<std::uint32_t> additional_gids;
  bool operator==(const User&) const = default;
};

struct ConsoleSize {
  std::uint16_t height = 0;
  std::uint16_t width = 0;
  bool operator==(const ConsoleSize&) const = default;
};

struct Scheduler {  // sched_setattr(2)
  std::uint32_t policy = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t flags = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // nanoseconds
  bool operator==(const Scheduler&) const = default;
};

struct IoPriority {  // ioprio_set(2)
  int io_class = 0;
  int priority = 0;
  bool operator==(const IoPriority&) const = default;
};

struct ExecCpuAffinity {
  std::string initial, final;  // cpu lists, "0-3,7"
  bool operator==(const ExecCpuAffinity&) const = default;
};

struct Process {
  bool terminal = false;
  std::optional<ConsoleSize> console_size;
  User user;
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::string cwd;
  std::optional<Capabilities> capabilities;
  std::vector<Rlimit> rlimits;
  bool no_new_privileges = false;
  std::string apparmor_profile;
  std::string selinux_label;
  std::optional<int> oom_score_adj;
  std::optional<Scheduler> scheduler;
  std::optional<IoPriority> io_priority;
  std::optional<ExecCpuAffinity> exec_cpu_affinity;
  bool operator==(const Process&) const = default;
};

struct Root {
  std::string path;
  bool readonly = false;
  bool operator==(const Root&) const = default;
};

enum class NamespaceType { pid, network, mount, ipc, uts, user, cgroup, time };

struct Namespace {
  NamespaceType type = NamespaceType::pid;
  std::string path;  // empty: a new one
  bool operator==(const Namespace&) const = default;
};

struct Device {
  char type = 'c';  // c, b, u or p
  std::string path;
  std::int64_t major = 0, minor = 0;
  std::optional<std::uint32_t> file_mode;
  std::optional<std::uint32_t> uid, gid;
  bool operator==(const Device&) const = default;
};

struct DeviceRule {
  bool allow = false;
  char type = 'a';                           // a, c or b
  std::optional<std::int64_t> major, minor;  // absent: all
  std::string access;                        // of "rwm"; empty: all
  bool operator==(const DeviceRule&) const = default;
};

struct MemoryResources {
  std::optional<std::int64_t> limit, reservation, swap, kernel, kernel_tcp;  // bytes; -1: no limit
  std::optional<std::uint64_t> swappiness;
  std::optional<bool> disable_oom_killer, use_hierarchy, check_before_update;
  bool operator==(const MemoryResources&) const = default;
};

struct CpuResources {
  std::optional<std::uint64_t> shares;
  std::optional<std::int64_t> quota;           // microseconds; -1: no limit
  std::optional<std::uint64_t> burst, period;  // microseconds
  std::optional<std::int64_t> realtime_runtime;
  std::optional<std::uint64_t> realtime_period;
  std::string cpus, mems;
  std::optional<std::int64_t> idle;
  bool operator==(const CpuResources&) const = default;
};

struct WeightDevice {
  std::int64_t major = 0, minor = 0;
  std::optional<std::uint16_t> weight, leaf_weight;
  bool operator==(const WeightDevice&) const = default;
};

struct ThrottleDevice {
  std::int64_t major = 0, minor = 0;
  std::uint64_t rate = 0;
  bool operator==(const ThrottleDevice&) const = default;
};

struct BlockIoResources {
  std::optional<std::uint16_t> weight, leaf_weight;
  std::vector<WeightDevice> weight_device;
  std::vector<ThrottleDevice> throttle_read_bps, throttle_write_bps, throttle_read_iops, throttle_write_iops;
  bool operator==(const BlockIoResources&) const = default;
};

struct HugepageLimit {
  std::string page_size;  // "2MB"
  std::uint64_t limit = 0;
  bool operator==(const HugepageLimit&) const = default;
};

struct NetworkPriority {
  std::string name;
  std::uint32_t priority = 0;
  bool operator==(const NetworkPriority&) const = default;
};

struct NetworkResources {
  std::optional<std::uint32_t> class_id;
  std::vector<NetworkPriority> priorities;
  bool operator==(const NetworkResources&) const = default;
};

struct RdmaLimit {
  std::optional<std::uint32_t> hca_handles, hca_objects;
  bool operator==(const RdmaLimit&) const = default;
};

struct Resources {
  std::vector<DeviceRule> devices;
  std::optional<MemoryResources> memory;
  std::optional<CpuResources> cpu;
  std::optional<std::int64_t> pids_limit;  // -1: no limit
  std::optional<BlockIoResources> block_io;
  std::vector<HugepageLimit> hugepage_limits;
  std::optional<NetworkResources> network;
  std::map<std::string, RdmaLimit> rdma;
  std::map<std::string, std::string> unified;
  bool operator==(const Resources&) const = default;
};

struct SeccompArg {
  std::uint32_t index = 0;
  std::uint64_t value = 0, value_two = 0;
  std::string op;  // SCMP_CMP_*
  bool operator==(const SeccompArg&) const = default;
};

struct SeccompRule {
  std::vector<std::string> names;
  std::string action;  // SCMP_ACT_*
  std::optional<std::uint32_t> errno_ret;
  std::vector<SeccompArg> args;
  bool operator==(const SeccompRule&) const = default;
};

struct Seccomp {
  std::string default_action;
  std::optional<std::uint32_t> default_errno_ret;
  std::vector<std::string> architectures;  // SCMP_ARCH_*
  std::vector<std::string> flags;          // SECCOMP_FILTER_FLAG_*
  std::string listener_path, listener_metadata;
  std::vector<SeccompRule> syscalls;
  bool operator==(const Seccomp&) const = default;
};

struct TimeOffset {
  std::int64_t secs = 0;
  std::uint32_t nanosecs = 0;
  bool operator==(const TimeOffset&) const = default;
};

struct Personality {
  std::uint32_t domain = 0;  // personality(2)
  bool operator==(const Personality&) const = default;
};

struct IntelRdt {
  std::string clos_id;
  std::vector<std::string> schemata;
  std::string l3_cache_schema, mem_bw_schema;
  bool enable_monitoring = false;
  bool operator==(const IntelRdt&) const = default;
};

struct MemoryPolicy {  // set_mempolicy(2)
  std::string mode, nodes;
  std::vector<std::string> flags;
  bool operator==(const MemoryPolicy&) const = default;
};

struct Linux {
  std::vector<Namespace> namespaces;
  std::vector<IdMapping> uid_mappings, gid_mappings;
  std::optional<TimeOffset> monotonic_offset, boottime_offset;
  std::vector<Device> devices;
  std::map<std::string, std::string> net_devices;  // host name -> name inside
  std::string cgroups_path;
  std::optional<Resources> resources;
  std::optional<IntelRdt> intel_rdt;
  std::optional<MemoryPolicy> memory_policy;
  std::map<std::string, std::string> sysctl;
  std::optional<Seccomp> seccomp;
  std::string rootfs_propagation;
  std::vector<std::string> masked_paths, readonly_paths;
  std::string mount_label;
  std::optional<Personality> personality;
  bool operator==(const Linux&) const = default;
};

struct Spec {
  std::string oci_version;
  std::optional<Process> process;
  Root root;
  std::string hostname, domainname;
  std::vector<Mount> mounts;
  Hooks hooks;
  std::map<std::string, std::string> annotations;
  Linux linux_;

  // The entry of that type; nullptr where the container shares the runtime's namespace.
  const Namespace* find_namespace(NamespaceType type) const;
  bool has_new_namespace(NamespaceType type) const;
  bool operator==(const Spec&) const = default;
};

// What tare's own annotations mean; all of them change behaviour and are listed by `features`.
//
// "overlay=tmpfs": root.path is a lower layer that is never written; the container gets an overlay
// over it whose upper layer is a tmpfs of its own, and further overlays where root.path "/" has
// other file systems mounted below. This is the root of `tare box`.
inline constexpr const char* kAnnotationRootOverlay = "dev.tare.root.overlay";

}  // namespace tare::oci
