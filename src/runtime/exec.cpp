#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "oci/names.hpp"
#include "oci/parse.hpp"
#include "oci/validate.hpp"
#include "runtime/container.hpp"
#include "seccomp/cache.hpp"
#include "sys/child.hpp"

namespace tare::runtime {
namespace {

std::uint32_t parse_id(std::string_view text, std::string_view whole) {
  // The largest value means "leave it" to setresuid(2): CVE-2026-30892, CVE-2024-40635.
  const auto id = parse_number<std::uint32_t>(text);
  if (!id || *id == ~std::uint32_t{0})
    throw Error(ErrorKind::usage, cat("--user ", quoted(whole), ": wants UID or UID:GID, numbers below 4294967295"));
  return *id;
}

void apply_user(oci::Process& process, const std::string& user) {
  const auto colon = user.find(':');
  process.user.uid = parse_id(std::string_view(user).substr(0, colon), user);
  if (colon != std::string::npos) process.user.gid = parse_id(std::string_view(user).substr(colon + 1), user);
  // The groups of the container's own user are none of this one's.
  process.user.additional_gids.clear();
}

void add_capabilities(oci::Process& process, const std::vector<std::string>& names) {
  if (names.empty()) return;
  auto caps = process.capabilities.value_or(oci::Capabilities{});
  for (const auto& given : names) {
    const auto number = oci::capability_number(given.starts_with("CAP_") ? given : "CAP_" + given);
    if (!number) throw Error(ErrorKind::usage, cat("--cap ", quoted(given), ": no such capability"));
    const std::uint64_t bit = std::uint64_t{1} << *number;
    // What the container can't have, no process in it gets.
    if ((caps.bounding & bit) == 0)
      throw Error(ErrorKind::usage, cat("--cap ", given, ": it is not in the container's bounding set"));
    caps.effective |= bit;
    caps.permitted |= bit;
  }
  process.capabilities = caps;
}

std::string read_process(const std::string& file) {
  constexpr std::size_t kMost = 16 << 20;
  if (file != "-") return sys::read_file(file, kMost);
  const sys::Fd stdin_copy(::dup(0));
  if (!stdin_copy) throw_errno("dup", errno);
  return sys::read_all(stdin_copy, kMost);
}

oci::Process make_process(const ExecRequest& request, const oci::Spec& spec, Warnings& warnings) {
  if (!request.process_file.empty()) {
    auto process = oci::parse_process(read_process(request.process_file),
                                      request.process_file == "-" ? "process" : request.process_file, warnings);
    if (request.tty) process.terminal = true;
    return process;
  }
  if (request.args.empty()) throw Error(ErrorKind::usage, "no command was given");
  oci::Process process = *spec.process;
  process.args = request.args;
  process.terminal = request.tty;
  process.console_size.reset();
  for (const auto& entry : request.env) process.env.push_back(entry);
  if (request.cwd) process.cwd = *request.cwd;
  if (request.user) apply_user(process, *request.user);
  for (const auto gid : request.additional_gids) process.user.additional_gids.push_back(gid);
  add_capabilities(process, request.capabilities);
  if (request.apparmor) process.apparmor_profile = *request.apparmor;
  if (request.process_label) process.selinux_label = *request.process_label;
  if (request.no_new_privs) process.no_new_privileges = true;
  if (request.user) std::erase_if(process.env, [](const auto& e) { return e.starts_with("HOME="); });
  oci::normalize(process, warnings);
  return process;
}

int target_namespaces(const oci::Spec& spec) {
  std::uint64_t flags = 0;
  for (const auto& entry : spec.linux_.namespaces) flags |= oci::namespace_clone_flag(entry.type);
  return static_cast<int>(flags);
}

}  // namespace

RunResult exec(const Context& context, const ExecRequest& request) {
  return with_intent(cat("exec ", request.id), [&] {
    RunResult result;
    check_preserved(request.preserve_fds);
    const Found found = find(context, request.id, false);
    const auto status = found.status();
    if (status == Status::paused && !request.ignore_paused)
      throw Error(ErrorKind::conflict, "cannot exec in a paused container (use --ignore-paused to override)");
    if (status != Status::running && status != Status::paused && status != Status::created)
      throw Error(ErrorKind::conflict, cat("container not running: it is ", status_name(status)));
    const sys::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, found.init->pid, 0)));
    if (!pidfd || !found.init->alive()) throw Error(ErrorKind::conflict, "container not running");

    const oci::Spec spec = kept_spec(found.slot);
    oci::Process process = make_process(request, spec, result.warnings);
    complete_home(process,
                  [&] { return home_of(sys::open_dir(cat("/proc/", found.init->pid, "/root/")), process.user.uid); });
    oci::validate_process(process, result.warnings);
    if (process.terminal && request.detach && request.console_socket.empty())
      throw Error(ErrorKind::usage, "a terminal and --detach need a --console-socket");

    const auto facts = host::facts(host::Cgroups::unwanted);
    seccomp::Filter filter;
    if (spec.linux_.seccomp) filter = seccomp::compile_cached(*spec.linux_.seccomp, context.root + "/.seccomp");
    plan::Options options;
    options.id = request.id;
    options.cgroup_join_files = cgroup::join_files(found.record->cgroups, request.cgroup);
    options.seccomp = &filter.program;
    options.seccomp_flags = filter.flags;
    options.preserve_fds = request.preserve_fds;
    options.enters_user_namespace = spec.find_namespace(oci::NamespaceType::user) != nullptr;
    options.setgroups_denied = spec.has_new_namespace(oci::NamespaceType::user) &&
                               launch::maps_need_setgroups_denied(spec.linux_.gid_mappings, facts.euid, facts.egid);
    plan::Plan plan = plan::make_exec(process, facts, options);
    if ((target_namespaces(spec) & 0x80) != 0) plan.share_memory = false;  // CLONE_NEWTIME: see setns(2)

    launch::Request wanted;
    const sys::DirFd v2 = cgroup::open_v2(found.record->cgroups, request.cgroup);
    wanted.cgroup_fd = v2.get();
    wanted.target_pidfd = pidfd.get();
    wanted.target_namespaces = target_namespaces(spec);
    wanted.preserve_fds = request.preserve_fds;
    sys::Fd master;
    wanted.on_console = [&](sys::Fd fd) {
      if (request.console_socket.empty())
        master = std::move(fd);
      else
        send_descriptor(request.console_socket, fd.get(), "/dev/ptmx", "--console-socket");
    };
    if (!request.detach) block_signals();
    launch::Started started = launch::start(plan, wanted);
    if (!request.pidfd_socket.empty())
      send_descriptor(request.pidfd_socket, started.child.pidfd().get(), "pidfd", "--pidfd-socket");
    write_pid_file(request.pid_file, started.child.pid());
    if (request.detach) {
      started.child.release();
      return result;
    }
    result.status = attend(started.child, std::move(master), false);
    return result;
  });
}

}  // namespace tare::runtime
