// The rules for a seccomp filter: its words, and which go together.
#include <algorithm>

#include "oci/names.hpp"
#include "oci/refuse.hpp"

namespace tare::oci {
namespace {

void check_word(std::span<const std::string_view> known, const std::string& text, std::string_view field) {
  if (std::ranges::find(known, text) == known.end()) refuse(field, cat("unknown ", quoted(text)));
}

// errnoRet is the data that the kernel hands on with the action (SECCOMP_RET_DATA); only two have any.
void check_errno(const std::string& action, const std::optional<std::uint32_t>& errno_ret, std::string_view field) {
  if (!errno_ret) return;
  if (action != "SCMP_ACT_ERRNO" && action != "SCMP_ACT_TRACE") refuse(field, cat("means nothing to ", action));
  const std::uint32_t largest = action == "SCMP_ACT_ERRNO" ? 4095 : 65535;  // MAX_ERRNO
  if (*errno_ret > largest) refuse(field, cat(*errno_ret, " is not from 0 to ", largest));
}

void validate_rule(const SeccompRule& rule, std::size_t index) {
  const auto field = [&](std::string_view member) { return element("linux.seccomp.syscalls", index, member); };
  if (rule.names.empty()) refuse(field("names"), "must name a system call");
  for (std::size_t i = 0; i < rule.names.size(); ++i) {
    if (rule.names[i].empty()) refuse(element(field("names"), i), "is empty");
  }
  check_word(seccomp_actions(), rule.action, field("action"));
  check_errno(rule.action, rule.errno_ret, field("errnoRet"));
  for (std::size_t i = 0; i < rule.args.size(); ++i) {
    if (rule.args[i].index > 5) {
      refuse(element(field("args"), i, "index"), cat(rule.args[i].index, " is not from 0 to 5"));
    }
    check_word(seccomp_operators(), rule.args[i].op, element(field("args"), i, "op"));
  }
}

}  // namespace

void validate_seccomp(const Seccomp& seccomp) {
  constexpr std::string_view kNotify = "SCMP_ACT_NOTIFY";
  check_word(seccomp_actions(), seccomp.default_action, "linux.seccomp.defaultAction");
  // The call that hands the listener over would wait for itself.
  if (seccomp.default_action == kNotify) {
    refuse("linux.seccomp.defaultAction", "SCMP_ACT_NOTIFY can't be the default");
  }
  check_errno(seccomp.default_action, seccomp.default_errno_ret, "linux.seccomp.defaultErrnoRet");
  for (std::size_t i = 0; i < seccomp.architectures.size(); ++i) {
    check_word(seccomp_architectures(), seccomp.architectures[i], element("linux.seccomp.architectures", i));
  }
  for (std::size_t i = 0; i < seccomp.flags.size(); ++i) {
    check_word(seccomp_flags(), seccomp.flags[i], element("linux.seccomp.flags", i));
  }
  bool notifies = false;
  for (std::size_t i = 0; i < seccomp.syscalls.size(); ++i) {
    validate_rule(seccomp.syscalls[i], i);
    notifies = notifies || seccomp.syscalls[i].action == kNotify;
  }
  if (notifies && seccomp.listener_path.empty()) {
    refuse("linux.seccomp.listenerPath", "missing, SCMP_ACT_NOTIFY needs it");
  }
  if (seccomp.listener_path.empty() && !seccomp.listener_metadata.empty()) {
    refuse("linux.seccomp.listenerMetadata", "means nothing without listenerPath");
  }
}

}  // namespace tare::oci
