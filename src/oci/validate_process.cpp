// The rules for a process, and how it is brought into its normal form.
#include <algorithm>
#include <map>

#include "oci/names.hpp"
#include "oci/refuse.hpp"

namespace tare::oci {
namespace {

void validate_env(const std::vector<std::string>& env) {
  for (std::size_t i = 0; i < env.size(); ++i) {
    const auto equals = env[i].find('=');
    if (equals == std::string::npos) refuse(element("process.env", i), cat(quoted(env[i]), " has no '='"));
    if (equals == 0) refuse(element("process.env", i), cat(quoted(env[i]), " has no name before '='"));
  }
}

void validate_rlimits(const std::vector<Rlimit>& rlimits) {
  for (std::size_t i = 0; i < rlimits.size(); ++i) {
    const auto field = [&](std::string_view member) { return element("process.rlimits", i, member); };
    const auto same = [&](const Rlimit& other) { return other.type == rlimits[i].type; };
    if (std::any_of(rlimits.begin(), rlimits.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      refuse(field("type"), cat(rlimit_name(rlimits[i].type), " is there twice"));
    }
    if (rlimits[i].soft > rlimits[i].hard) {
      refuse(field("soft"), cat(rlimits[i].soft, " is above the hard limit of ", rlimits[i].hard));
    }
  }
}

// sched_setattr(2) ignores what does not belong to the policy; a person would not know that.
void validate_scheduler(const Scheduler& scheduler) {
  constexpr std::uint32_t kFifo = 1, kRoundRobin = 2, kDeadline = 6;
  const bool realtime = scheduler.policy == kFifo || scheduler.policy == kRoundRobin;
  const bool deadline = scheduler.policy == kDeadline;
  const auto name = scheduler_policy_name(scheduler.policy);
  if (scheduler.nice < -20 || scheduler.nice > 19) refuse("process.scheduler.nice", "must be from -20 to 19");
  if (scheduler.nice != 0 && (realtime || deadline)) refuse("process.scheduler.nice", cat("means nothing to ", name));
  if (scheduler.priority != 0 && !realtime) refuse("process.scheduler.priority", cat("means nothing to ", name));
  if (realtime && (scheduler.priority < 1 || scheduler.priority > 99)) {
    refuse("process.scheduler.priority", cat("must be from 1 to 99 for ", name));
  }
  if (!deadline && scheduler.runtime != 0) refuse("process.scheduler.runtime", cat("means nothing to ", name));
  if (!deadline && scheduler.deadline != 0) refuse("process.scheduler.deadline", cat("means nothing to ", name));
  if (!deadline && scheduler.period != 0) refuse("process.scheduler.period", cat("means nothing to ", name));
}

// Takes bits that are not among the permissible ones out of a set, with a warning for each.
void keep_only(std::uint64_t& set, std::uint64_t permissible, std::string_view name, std::string_view why,
               Warnings& warnings) {
  for (int i = 0; i <= kLastCapability; ++i) {
    if ((set & ~permissible) >> i & 1) {
      warnings.push_back(cat("process.capabilities.", name, ": ", capability_name(i), " left out, it is not ", why));
    }
  }
  set &= permissible;
}

}  // namespace

void validate_process(const Process& process, Warnings&) {
  if (process.cwd.empty()) refuse("process.cwd", "missing");
  if (!process.cwd.starts_with('/')) refuse("process.cwd", cat(quoted(process.cwd), " is not absolute"));
  if (process.args.empty()) refuse("process.args", "must name a program");
  validate_env(process.env);
  validate_rlimits(process.rlimits);
  if (process.oom_score_adj && (*process.oom_score_adj < -1000 || *process.oom_score_adj > 1000)) {
    refuse("process.oomScoreAdj", cat(*process.oom_score_adj, " is not from -1000 to 1000"));
  }
  if (process.scheduler) validate_scheduler(*process.scheduler);
  if (process.io_priority && (process.io_priority->priority < 0 || process.io_priority->priority > 7)) {
    refuse("process.ioPriority.priority", cat(process.io_priority->priority, " is not from 0 to 7"));
  }
  if (const auto& affinity = process.exec_cpu_affinity) {
    const auto check = [](std::string_view field, const std::string& list) {
      if (!list.empty() && !is_number_list(list)) refuse(field, cat(quoted(list), " is no list like 0-3,7"));
    };
    check("process.execCPUAffinity.initial", affinity->initial);
    check("process.execCPUAffinity.final", affinity->final);
  }
  if (!process.selinux_label.empty()) unbuilt("process.selinuxLabel");
  if (process.exec_cpu_affinity) unbuilt("process.execCPUAffinity");
}

void drop_repeated_env(std::vector<std::string>& env) {
  std::map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < env.size(); ++i) last[std::string_view(env[i]).substr(0, env[i].find('='))] = i;
  if (last.size() == env.size()) return;
  std::vector<std::string> kept;
  kept.reserve(last.size());
  for (std::size_t i = 0; i < env.size(); ++i) {
    if (last[std::string_view(env[i]).substr(0, env[i].find('='))] == i) kept.push_back(env[i]);
  }
  env = std::move(kept);
}

void normalize(Process& process, Warnings& warnings) {
  drop_repeated_env(process.env);
  if (!process.capabilities) return;
  auto& caps = *process.capabilities;
  keep_only(caps.effective, caps.permitted, "effective", "permitted", warnings);
  // prctl(2), PR_CAP_AMBIENT_RAISE.
  keep_only(caps.ambient, caps.permitted & caps.inheritable, "ambient", "both permitted and inheritable", warnings);
}

}  // namespace tare::oci
