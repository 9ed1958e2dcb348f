// The other words of config.json that stand for a number of the kernel, and the words of seccomp.
#include "oci/lookup.hpp"
#include "oci/names.hpp"

namespace tare::oci {
namespace {

// sched(7), linux/sched.h.
constexpr Named<std::uint32_t> kPolicies[] = {
    {"SCHED_OTHER", 0}, {"SCHED_FIFO", 1}, {"SCHED_RR", 2},       {"SCHED_BATCH", 3},
    {"SCHED_ISO", 4},   {"SCHED_IDLE", 5}, {"SCHED_DEADLINE", 6},
};
constexpr Named<std::uint64_t> kSchedulerFlags[] = {
    {"SCHED_FLAG_RESET_ON_FORK", 0x01},  {"SCHED_FLAG_RECLAIM", 0x02},     {"SCHED_FLAG_DL_OVERRUN", 0x04},
    {"SCHED_FLAG_KEEP_POLICY", 0x08},    {"SCHED_FLAG_KEEP_PARAMS", 0x10}, {"SCHED_FLAG_UTIL_CLAMP_MIN", 0x20},
    {"SCHED_FLAG_UTIL_CLAMP_MAX", 0x40},
};
// ioprio_set(2), linux/ioprio.h.
constexpr Named<int> kIoClasses[] = {{"IOPRIO_CLASS_RT", 1}, {"IOPRIO_CLASS_BE", 2}, {"IOPRIO_CLASS_IDLE", 3}};
// personality(2): PER_LINUX, PER_LINUX32.
constexpr Named<std::uint32_t> kDomains[] = {{"LINUX", 0x0000}, {"LINUX32", 0x0008}};
// set_mempolicy(2), linux/mempolicy.h; the names again, for lists.
constexpr Named<int> kMemoryModes[] = {
    {"MPOL_DEFAULT", 0},
    {"MPOL_PREFERRED", 1},
    {"MPOL_BIND", 2},
    {"MPOL_INTERLEAVE", 3},
    {"MPOL_LOCAL", 4},
    {"MPOL_PREFERRED_MANY", 5},
    {"MPOL_WEIGHTED_INTERLEAVE", 6},
};
constexpr Named<int> kMemoryFlags[] = {
    {"MPOL_F_NUMA_BALANCING", 1 << 13}, {"MPOL_F_RELATIVE_NODES", 1 << 14}, {"MPOL_F_STATIC_NODES", 1 << 15}};
constexpr std::string_view kMemoryModeNames[] = {
    "MPOL_BIND",      "MPOL_DEFAULT",        "MPOL_INTERLEAVE",         "MPOL_LOCAL",
    "MPOL_PREFERRED", "MPOL_PREFERRED_MANY", "MPOL_WEIGHTED_INTERLEAVE"};
constexpr std::string_view kMemoryFlagNames[] = {"MPOL_F_NUMA_BALANCING", "MPOL_F_RELATIVE_NODES",
                                                 "MPOL_F_STATIC_NODES"};

constexpr std::string_view kActions[] = {"SCMP_ACT_ALLOW",        "SCMP_ACT_ERRNO",       "SCMP_ACT_KILL",
                                         "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD", "SCMP_ACT_LOG",
                                         "SCMP_ACT_NOTIFY",       "SCMP_ACT_TRACE",       "SCMP_ACT_TRAP"};
constexpr std::string_view kOperators[] = {"SCMP_CMP_EQ", "SCMP_CMP_GE",        "SCMP_CMP_GT", "SCMP_CMP_LE",
                                           "SCMP_CMP_LT", "SCMP_CMP_MASKED_EQ", "SCMP_CMP_NE"};
constexpr std::string_view kArchitectures[] = {
    "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM",       "SCMP_ARCH_LOONGARCH64", "SCMP_ARCH_M68K",     "SCMP_ARCH_MIPS",
    "SCMP_ARCH_MIPS64",  "SCMP_ARCH_MIPS64N32", "SCMP_ARCH_MIPSEL",      "SCMP_ARCH_MIPSEL64", "SCMP_ARCH_MIPSEL64N32",
    "SCMP_ARCH_PARISC",  "SCMP_ARCH_PARISC64",  "SCMP_ARCH_PPC",         "SCMP_ARCH_PPC64",    "SCMP_ARCH_PPC64LE",
    "SCMP_ARCH_RISCV64", "SCMP_ARCH_S390",      "SCMP_ARCH_S390X",       "SCMP_ARCH_SH",       "SCMP_ARCH_SHEB",
    "SCMP_ARCH_X32",     "SCMP_ARCH_X86",       "SCMP_ARCH_X86_64"};
constexpr std::string_view kFlags[] = {"SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
                                       "SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"};

}  // namespace

std::optional<std::uint32_t> scheduler_policy(std::string_view name) { return number_in(kPolicies, name); }
std::string_view scheduler_policy_name(std::uint32_t policy) { return name_in(kPolicies, policy); }
std::optional<std::uint64_t> scheduler_flag(std::string_view name) { return number_in(kSchedulerFlags, name); }
std::string_view scheduler_flag_name(std::uint64_t flag) { return name_in(kSchedulerFlags, flag); }
std::optional<int> io_class_number(std::string_view name) { return number_in(kIoClasses, name); }
std::string_view io_class_name(int io_class) { return name_in(kIoClasses, io_class); }
std::optional<std::uint32_t> personality_domain(std::string_view name) { return number_in(kDomains, name); }
std::string_view personality_domain_name(std::uint32_t domain) { return name_in(kDomains, domain); }

std::optional<int> memory_policy_mode(std::string_view name) { return number_in(kMemoryModes, name); }
std::optional<int> memory_policy_flag(std::string_view name) { return number_in(kMemoryFlags, name); }
std::span<const std::string_view> memory_policy_modes() { return kMemoryModeNames; }
std::span<const std::string_view> memory_policy_flags() { return kMemoryFlagNames; }

std::span<const std::string_view> seccomp_actions() { return kActions; }
std::span<const std::string_view> seccomp_operators() { return kOperators; }
std::span<const std::string_view> seccomp_architectures() { return kArchitectures; }
std::span<const std::string_view> seccomp_flags() { return kFlags; }

}  // namespace tare::oci
