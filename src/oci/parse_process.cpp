// The object process: of config.json, and of exec by itself.
#include <algorithm>

#include "oci/names.hpp"
#include "oci/parse_detail.hpp"
#include "oci/read.hpp"
#include "oci/validate.hpp"

namespace tare::oci {
namespace {

User user_from(const json::Field& object) {
  User user;
  read_id(object, "uid", user.uid);
  read_id(object, "gid", user.gid);
  if (const auto umask = object.member("umask")) user.umask = static_cast<std::uint32_t>(umask.uint64(0777));
  each(object, "additionalGids", [&](const json::Field& entry) {
    user.additional_gids.push_back(static_cast<std::uint32_t>(entry.uint64(kLargestId)));
  });
  return user;
}

// The specification: a capability that is unknown or can't be granted is a warning, never an error.
Capabilities capabilities_from(const json::Field& object, Warnings& warnings) {
  Warnings unknown;
  const auto set = [&](std::string_view key) {
    std::uint64_t bits = 0;
    each(object, key, [&](const json::Field& entry) {
      if (const auto number = capability_number(entry.string_view())) {
        bits |= std::uint64_t{1} << *number;
        return;
      }
      auto text = cat(object.path(), ": unknown capability ", quoted(entry.string_view()), " left out");
      if (std::ranges::find(unknown, text) == unknown.end()) unknown.push_back(std::move(text));
    });
    return bits;
  };
  Capabilities caps;
  caps.bounding = set("bounding");
  caps.effective = set("effective");
  caps.inheritable = set("inheritable");
  caps.permitted = set("permitted");
  caps.ambient = set("ambient");
  warnings.insert(warnings.end(), unknown.begin(), unknown.end());
  return caps;
}

Rlimit rlimit_from(const json::Field& object) {
  Rlimit limit;
  const auto type = object.member("type");
  limit.type = word(type, rlimit_number, "resource limit");
  limit.soft = object.member("soft").uint64();
  limit.hard = object.member("hard").uint64();
  return limit;
}

Scheduler scheduler_from(const json::Field& object) {
  Scheduler scheduler;
  const auto policy = object.member("policy");
  scheduler.policy = word(policy, scheduler_policy, "scheduling policy");
  read(object, "nice", scheduler.nice);
  read(object, "priority", scheduler.priority);
  each(object, "flags", [&](const json::Field& entry) { scheduler.flags |= word(entry, scheduler_flag, "flag"); });
  read(object, "runtime", scheduler.runtime);
  read(object, "deadline", scheduler.deadline);
  read(object, "period", scheduler.period);
  return scheduler;
}

IoPriority io_priority_from(const json::Field& object) {
  IoPriority priority;
  const auto io_class = object.member("class");
  priority.io_class = word(io_class, io_class_number, "I/O class");
  read(object, "priority", priority.priority);
  return priority;
}

}  // namespace

Process process_from(const json::Field& object, Warnings& warnings) {
  Process process;
  read(object, "terminal", process.terminal);
  // Without a terminal it must be ignored, its values included.
  if (const auto size = object.member("consoleSize"); size && process.terminal) {
    process.console_size =
        ConsoleSize{integer<std::uint16_t>(size.member("height")), integer<std::uint16_t>(size.member("width"))};
  }
  if (const auto user = object.member("user")) process.user = user_from(user);
  read(object, "args", process.args);
  read(object, "env", process.env);
  process.cwd = object.member("cwd").string();
  if (const auto caps = object.member("capabilities")) process.capabilities = capabilities_from(caps, warnings);
  each(object, "rlimits", [&](const json::Field& entry) { process.rlimits.push_back(rlimit_from(entry)); });
  read(object, "noNewPrivileges", process.no_new_privileges);
  read(object, "apparmorProfile", process.apparmor_profile);
  read(object, "selinuxLabel", process.selinux_label);
  read(object, "oomScoreAdj", process.oom_score_adj);
  if (const auto scheduler = object.member("scheduler")) process.scheduler = scheduler_from(scheduler);
  if (const auto priority = object.member("ioPriority")) process.io_priority = io_priority_from(priority);
  if (const auto affinity = object.member("execCPUAffinity")) {
    auto& lists = process.exec_cpu_affinity.emplace();
    read(affinity, "initial", lists.initial);
    read(affinity, "final", lists.final);
  }
  normalize(process, warnings);
  return process;
}

}  // namespace tare::oci
