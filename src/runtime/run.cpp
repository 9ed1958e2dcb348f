#include <sys/prctl.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "launch/hooks.hpp"
#include "runtime/container.hpp"
#include "runtime/poststart.hpp"

namespace tare::runtime {
namespace {

// runtime.md changed its mind: a failing poststart hook was a warning, and is an error since 1.3.
bool poststart_failure_is_an_error(const std::string& oci_version) {
  const auto parts = split(oci_version, '.');
  return parts.size() >= 2 && parse_number<int>(parts[1]).value_or(0) >= 3;
}

}  // namespace

void run_poststart(const oci::Spec& spec, const store::Record& record, pid_t pid, Warnings& warnings) {
  if (spec.hooks.poststart.empty()) return;
  const auto state = hook_state(record, "running", pid);
  for (std::size_t i = 0; i < spec.hooks.poststart.size(); ++i) {
    try {
      launch::run_hook(spec.hooks.poststart[i], state, record.bundle, cat("hooks.poststart[", i, "]"));
    } catch (const Error& error) {
      if (poststart_failure_is_an_error(spec.oci_version)) throw;
      warnings.push_back(error.text());
    }
  }
}

RunResult run(const Context& context, const RunRequest& request) {
  return with_intent(cat("run ", request.id), [&] {
    RunResult result;
    Rising rising(context, request, false);
    const bool terminal = rising.spec().process->terminal;
    if (terminal && request.detach && request.console_socket.empty())
      throw Error(ErrorKind::usage, "process.terminal is true: --detach needs a --console-socket");
    sys::Fd master;
    // Before the clone, so that no signal is lost between it and the wait.
    if (!request.detach) block_signals();
    launch::Started started = rising.launch([&](sys::Fd fd) {
      if (request.console_socket.empty())
        master = std::move(fd);
      else
        send_descriptor(request.console_socket, fd.get(), "/dev/ptmx", "--console-socket");
    });
    if (!request.pidfd_socket.empty())
      send_descriptor(request.pidfd_socket, started.child.pidfd().get(), "pidfd", "--pidfd-socket");
    write_pid_file(request.pid_file, started.child.pid());
    // A failure ends the container: the child is its owner's to kill, and rising undoes the rest.
    run_poststart(rising.spec(), rising.record(), started.child.pid(), rising.warnings());
    if (request.detach) {
      rising.release();
      started.child.release();
      result.warnings = std::move(rising.warnings());
      return result;
    }
    rising.slot().unlock();
    // An init of tare's own passes signals on. (That can't be read from /proc: while it waits in
    // rt_sigtimedwait(2), the kernel shows the signals it waits for as not blocked.)
    result.status = attend(started.child, std::move(master), request.spec.has_value() && !request.init);
    rising.release();
    if (!request.keep) {
      cgroup::destroy(rising.record().cgroups);
      run_poststop(rising.spec(), rising.record(), rising.warnings());
      rising.slot().remove();
    }
    result.warnings = std::move(rising.warnings());
    return result;
  });
}

}  // namespace tare::runtime
