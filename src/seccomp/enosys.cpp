#include "seccomp/enosys.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <cerrno>
#include <cstddef>
#include <optional>

namespace tare::seccomp {
namespace {

constexpr std::uint32_t kX32Bit = 0x40000000;  // __X32_SYSCALL_BIT
constexpr std::uint32_t kRetEnosys = SECCOMP_RET_ERRNO | ENOSYS;

// The highest numbers named by the profile, for one value of seccomp_data.arch. x32 shares the
// value of x86_64 and is told apart by a bit in the number.
struct Section {
  std::uint32_t audit_arch = 0;
  std::optional<std::uint32_t> last = std::nullopt, last_x32 = std::nullopt;
  bool s390 = false;  // see make_checks
};

std::optional<std::uint32_t> last_number(const oci::Seccomp& profile, std::uint32_t arch) {
  int last = -1;
  for (const oci::SeccompRule& rule : profile.syscalls) {
    for (const std::string& name : rule.names) {
      // Unknown names and calls that this architecture lacks give negative numbers.
      const int number = seccomp_syscall_resolve_name_arch(arch, name.c_str());
      if (number > last) last = number;
    }
  }
  if (last < 0) return std::nullopt;
  return static_cast<std::uint32_t>(last);
}

std::vector<Section> make_sections(const oci::Seccomp& profile, const std::vector<std::uint32_t>& architectures) {
  std::vector<Section> sections;
  for (const std::uint32_t arch : architectures) {
    const bool x32 = arch == SCMP_ARCH_X32;
    // SCMP_ARCH_* are the AUDIT_ARCH_* values, but for x32, which is no value of its own.
    const std::uint32_t audit_arch = x32 ? std::uint32_t{AUDIT_ARCH_X86_64} : arch;
    const std::optional<std::uint32_t> last = last_number(profile, arch);
    if (!last) continue;
    Section* section = nullptr;
    for (Section& known : sections) {
      if (known.audit_arch == audit_arch) section = &known;
    }
    if (section == nullptr) {
      sections.push_back({.audit_arch = audit_arch});
      section = &sections.back();
    }
    (x32 ? section->last_x32 : section->last) = last;
    section->s390 = arch == SCMP_ARCH_S390 || arch == SCMP_ARCH_S390X;
  }
  return sections;
}

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
constexpr sock_filter jump_if(std::uint16_t how, std::uint32_t k, std::uint8_t yes, std::uint8_t no) {
  return BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | how | BPF_K), k, yes, no);
}

// "Is the number above the last one?" for one architecture. Ends in a return of ENOSYS, which is
// reached by jumping (or falling) there; whatever else lands just behind it.
std::vector<sock_filter> make_checks(const Section& s) {
  std::vector<sock_filter> code = {load(offsetof(seccomp_data, nr))};
  if (s.last && s.last_x32) {
    code.push_back(jump_if(BPF_JSET, kX32Bit, 1, 0));
    code.push_back(jump_if(BPF_JGT, *s.last, 1, 2));
    code.push_back(jump_if(BPF_JGT, *s.last_x32, 0, 1));
  } else if (s.last_x32) {
    code.push_back(jump_if(BPF_JSET, kX32Bit, 0, 2));
    code.push_back(jump_if(BPF_JGT, *s.last_x32, 0, 1));
  } else if (s.audit_arch == AUDIT_ARCH_X86_64) {
    code.push_back(jump_if(BPF_JSET, kX32Bit, 2, 0));  // an architecture that isn't in the filter
    code.push_back(jump_if(BPF_JGT, *s.last, 0, 1));
  } else if (s.s390) {
    // There a number that the kernel doesn't know arrives as 0, the former setup(2).
    code.push_back(jump_if(BPF_JEQ, 0, 1, 0));
    code.push_back(jump_if(BPF_JGT, *s.last, 0, 1));
  } else {
    code.push_back(jump_if(BPF_JGT, *s.last, 0, 1));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kRetEnosys));
  return code;
}

bool needs_enosys(const oci::Seccomp& profile) {
  const std::string& action = profile.default_action;
  if (action == "SCMP_ACT_ALLOW" || action == "SCMP_ACT_LOG" || action == "SCMP_ACT_TRACE") return false;
  return !(action == "SCMP_ACT_ERRNO" && profile.default_errno_ret == std::uint32_t{ENOSYS});
}

}  // namespace

void prepend_enosys(std::vector<sock_filter>& program, const oci::Seccomp& profile,
                    const std::vector<std::uint32_t>& architectures) {
  if (!needs_enosys(profile)) return;
  const std::vector<Section> sections = make_sections(profile, architectures);
  if (sections.empty()) return;

  // load arch; then for each: "this one? no: over the checks"; checks; jump to libseccomp's program.
  std::vector<sock_filter> head = {load(offsetof(seccomp_data, arch))};
  std::vector<std::size_t> to_filter;
  for (const Section& section : sections) {
    const std::vector<sock_filter> checks = make_checks(section);
    head.push_back(jump_if(BPF_JEQ, section.audit_arch, 0, static_cast<std::uint8_t>(checks.size() + 1)));
    head.insert(head.end(), checks.begin(), checks.end());
    to_filter.push_back(head.size());
    head.push_back(BPF_STMT(BPF_JMP | BPF_JA, 0));
  }
  for (const std::size_t at : to_filter) head[at].k = static_cast<std::uint32_t>(head.size() - at - 1);
  program.insert(program.begin(), head.begin(), head.end());
}

}  // namespace tare::seccomp
