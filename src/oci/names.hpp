// Names of config.json and of the command line, and the kernel's numbers for them.
//
// Every lookup by name is exact (signals and their prefix apart) and gives nothing for an unknown
// name; every lookup by number gives "" for an unknown number.
// Source: capabilities(7), getrlimit(2), signal(7), namespaces(7), sched(7), ioprio_set(2),
// personality(2), set_mempolicy(2), runtime-spec config-linux.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oci/spec.hpp"

namespace tare::oci {

// Capabilities: "CAP_CHOWN" is 0, "CAP_CHECKPOINT_RESTORE" 40.
inline constexpr int kLastCapability = 40;
std::optional<int> capability_number(std::string_view name);
std::string_view capability_name(int number);

// "RLIMIT_NOFILE" is RLIMIT_NOFILE.
std::optional<int> rlimit_number(std::string_view name);
std::string_view rlimit_name(int number);

// For people: "TERM", "SIGTERM", "sigterm", "15", "RTMIN+1", "SIGRTMAX-2"; 0 to 64, 0 only as "0".
std::optional<int> signal_number(std::string_view name);
std::string signal_name(int number);  // "SIGTERM", "SIGRTMIN+1"

// "network" is NamespaceType::network, CLONE_NEWNET, and /proc/PID/ns/net.
inline constexpr NamespaceType kNamespaceTypes[] = {NamespaceType::pid,    NamespaceType::network, NamespaceType::mount,
                                                    NamespaceType::ipc,    NamespaceType::uts,     NamespaceType::user,
                                                    NamespaceType::cgroup, NamespaceType::time};
std::optional<NamespaceType> namespace_type(std::string_view name);
std::string_view namespace_name(NamespaceType type);
std::string_view namespace_proc_name(NamespaceType type);  // "net", "mnt"; "time" (not time_for_children)
std::uint64_t namespace_clone_flag(NamespaceType type);    // CLONE_NEW*; of time: not for clone(2)'s flags word

// process.scheduler: SCHED_* and SCHED_FLAG_*; process.ioPriority: IOPRIO_CLASS_*; personality: PER_*.
std::optional<std::uint32_t> scheduler_policy(std::string_view name);
std::string_view scheduler_policy_name(std::uint32_t policy);
std::optional<std::uint64_t> scheduler_flag(std::string_view name);
std::string_view scheduler_flag_name(std::uint64_t flag);
std::optional<int> io_class_number(std::string_view name);
std::string_view io_class_name(int io_class);
std::optional<std::uint32_t> personality_domain(std::string_view name);
std::string_view personality_domain_name(std::uint32_t domain);

// linux.memoryPolicy: MPOL_* and MPOL_F_*.
std::optional<int> memory_policy_mode(std::string_view name);
std::optional<int> memory_policy_flag(std::string_view name);
std::span<const std::string_view> memory_policy_modes();
std::span<const std::string_view> memory_policy_flags();

// linux.seccomp: all words the specification knows, sorted.
std::span<const std::string_view> seccomp_actions();
std::span<const std::string_view> seccomp_operators();
std::span<const std::string_view> seccomp_architectures();
std::span<const std::string_view> seccomp_flags();

}  // namespace tare::oci
