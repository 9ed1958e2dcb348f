// From a child's message to the error that a person, or an engine, reads.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "launch/launch.hpp"

namespace tare::launch {
namespace {

std::string_view bounded(const char* text, std::size_t size) {
  const std::string_view all(text, size);
  return all.substr(0, all.find('\0'));
}

// podman, docker and containerd find these words and turn them into the exit statuses 126 and 127.
std::string program_failure(std::string_view program, std::string_view call, int error) {
  const auto name = cat("exec: ", quoted(program), ": ");
  if (call == "PATH") return cat(name, "executable file not found in $PATH");
  if (call == "stat") return cat(name, "stat ", program, ": ", errno_text(error));
  return cat(name, errno_text(error));
}

void add_hint(Error& error, const Message& message) {
  if (message.error == ENOEXEC)
    error.hint("the file is not a program for this machine, or a script without a #! line");
  else if (message.code == plan::Code::set_rlimit && message.error == EPERM)
    error.hint("raising a hard limit wants CAP_SYS_RESOURCE, which this process lacks");
  else if (message.code == plan::Code::set_capabilities && message.error == EPERM)
    error.hint("a capability was asked for that this process does not have itself");
  else if (message.error == ENOSPC && message.code == plan::Code::unshare_namespaces)
    error.hint("a limit in /proc/sys/user/max_*_namespaces was reached");
}

}  // namespace

void throw_failure(const Message& message, std::string_view step) {
  const auto call = bounded(message.call, sizeof message.call);
  const auto what = bounded(message.what, sizeof message.what);
  const auto detail = bounded(message.detail, sizeof message.detail);
  std::string text;
  if (message.code == plan::Code::find_program || message.code == plan::Code::exec_program) {
    text = program_failure(what, call, message.error);
  } else {
    text = step.empty() ? cat("hook ", quoted(what)) : std::string(step);
    if (!call.empty()) text += cat(": ", call);
    // Where the detail says it all the errno would only repeat it.
    if (detail.empty() || !call.empty()) text += cat(": ", errno_text(message.error));
    if (!detail.empty()) text += call.empty() ? cat(": ", detail) : cat(" (", detail, ")");
  }
  Error error(ErrorKind::child, std::move(text), message.error);
  add_hint(error, message);
  throw error;
}

void release(const sys::DirFd& state_folder) {
  const sys::Fd result = sys::open_at(state_folder, "result", O_RDONLY | O_NONBLOCK);
  sys::Fd go;
  try {
    go = sys::open_at(state_folder, "start", O_WRONLY | O_NONBLOCK);
  } catch (Error& error) {
    // fifo(7): ENXIO where nobody has it open for reading.
    if (error.errno_value() != ENXIO) throw;
    throw Error(ErrorKind::conflict, "nobody waits for start: the process has ended or has been started already");
  }
  // From here on reads wait; the end comes when the child's descriptor is closed by exec or by death.
  if (::fcntl(result.get(), F_SETFL, 0) < 0) throw_errno("fcntl", errno);
  sys::write_all(go, "\n");
  Message message{};
  while (true) {
    const ssize_t n = ::read(result.get(), &message, sizeof message);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno("read", errno);
    if (n == 0) return;
    if (n == static_cast<ssize_t>(sizeof message) && message.kind == Kind::failed) throw_failure(message, "");
  }
}

}  // namespace tare::launch
