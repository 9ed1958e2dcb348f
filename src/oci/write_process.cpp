// The object process.
#include "oci/names.hpp"
#include "oci/write_detail.hpp"

namespace tare::oci {
namespace {

void write_user(json::Writer& out, const User& user) {
  out.key("user").begin_object();
  number(out, "uid", user.uid);
  number(out, "gid", user.gid);
  write(out, "umask", user.umask);
  write_each(out, "additionalGids", user.additional_gids, [&](std::uint32_t gid) { out.number(gid); });
  out.end_object();
}

void write_capabilities(json::Writer& out, const Capabilities& caps) {
  const auto set = [&](std::string_view key, std::uint64_t bits) {
    if (bits == 0) return;
    out.key(key).begin_array();
    for (int i = 0; i <= kLastCapability; ++i) {
      if (bits >> i & 1) out.string(capability_name(i));
    }
    out.end_array();
  };
  out.key("capabilities").begin_object();
  set("bounding", caps.bounding);
  set("effective", caps.effective);
  set("inheritable", caps.inheritable);
  set("permitted", caps.permitted);
  set("ambient", caps.ambient);
  out.end_object();
}

void write_scheduler(json::Writer& out, const Scheduler& scheduler) {
  out.key("scheduler").begin_object();
  out.key("policy").string(scheduler_policy_name(scheduler.policy));
  if (scheduler.nice != 0) number(out, "nice", scheduler.nice);
  if (scheduler.priority != 0) number(out, "priority", scheduler.priority);
  if (scheduler.flags != 0) {
    out.key("flags").begin_array();
    for (std::uint64_t flag = 1; flag != 0; flag <<= 1) {
      if (scheduler.flags & flag) out.string(scheduler_flag_name(flag));
    }
    out.end_array();
  }
  if (scheduler.runtime != 0) number(out, "runtime", scheduler.runtime);
  if (scheduler.deadline != 0) number(out, "deadline", scheduler.deadline);
  if (scheduler.period != 0) number(out, "period", scheduler.period);
  out.end_object();
}

}  // namespace

void write_value(json::Writer& out, const Process& process) {
  out.begin_object();
  if (process.terminal) out.key("terminal").boolean(true);
  if (process.console_size) {
    out.key("consoleSize").begin_object();
    number(out, "height", process.console_size->height);
    number(out, "width", process.console_size->width);
    out.end_object();
  }
  write_user(out, process.user);
  write(out, "args", process.args);
  write(out, "env", process.env);
  out.key("cwd").string(process.cwd);
  if (process.capabilities) write_capabilities(out, *process.capabilities);
  write_each(out, "rlimits", process.rlimits, [&](const Rlimit& limit) {
    out.begin_object();
    out.key("type").string(rlimit_name(limit.type));
    number(out, "hard", limit.hard);
    number(out, "soft", limit.soft);
    out.end_object();
  });
  if (process.no_new_privileges) out.key("noNewPrivileges").boolean(true);
  write(out, "apparmorProfile", process.apparmor_profile);
  write(out, "selinuxLabel", process.selinux_label);
  write(out, "oomScoreAdj", process.oom_score_adj);
  if (process.scheduler) write_scheduler(out, *process.scheduler);
  if (process.io_priority) {
    out.key("ioPriority").begin_object();
    out.key("class").string(io_class_name(process.io_priority->io_class));
    number(out, "priority", process.io_priority->priority);
    out.end_object();
  }
  if (process.exec_cpu_affinity) {
    out.key("execCPUAffinity").begin_object();
    write(out, "initial", process.exec_cpu_affinity->initial);
    write(out, "final", process.exec_cpu_affinity->final);
    out.end_object();
  }
  out.end_object();
}

}  // namespace tare::oci
