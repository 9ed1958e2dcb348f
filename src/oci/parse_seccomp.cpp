// The object linux.seccomp, which `box --seccomp FILE` reads by itself, too. Its words stay words:
// what they mean is known to the room that compiles the filter; validate checks that they exist.
#include "oci/parse_detail.hpp"
#include "oci/read.hpp"

namespace tare::oci {
namespace {

SeccompRule rule_from(const json::Field& object) {
  SeccompRule rule;
  rule.names = object.member("names").strings();
  rule.action = object.member("action").string();
  read(object, "errnoRet", rule.errno_ret);
  each(object, "args", [&](const json::Field& entry) {
    SeccompArg& arg = rule.args.emplace_back();
    arg.index = integer<std::uint32_t>(entry.member("index"));
    arg.value = entry.member("value").uint64();
    read(entry, "valueTwo", arg.value_two);
    arg.op = entry.member("op").string();
  });
  return rule;
}

}  // namespace

Seccomp seccomp_from(const json::Field& object) {
  Seccomp seccomp;
  seccomp.default_action = object.member("defaultAction").string();
  read(object, "defaultErrnoRet", seccomp.default_errno_ret);
  read(object, "architectures", seccomp.architectures);
  read(object, "flags", seccomp.flags);
  read(object, "listenerPath", seccomp.listener_path);
  read(object, "listenerMetadata", seccomp.listener_metadata);
  each(object, "syscalls", [&](const json::Field& entry) { seccomp.syscalls.push_back(rule_from(entry)); });
  return seccomp;
}

}  // namespace tare::oci
