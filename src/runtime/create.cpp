#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/container.hpp"

namespace tare::runtime {

Warnings create(const Context& context, const CreateRequest& request) {
  return with_intent(cat("create ", request.id), [&] {
    Rising rising(context, request, true);
    const bool terminal = rising.spec().process->terminal;
    if (terminal && request.console_socket.empty())
      throw Error(ErrorKind::usage, "process.terminal is true, and no --console-socket was given");
    launch::Started started = rising.launch([&](sys::Fd master) {
      send_descriptor(request.console_socket, master.get(), "/dev/ptmx", "--console-socket");
    });
    if (!request.pidfd_socket.empty())
      send_descriptor(request.pidfd_socket, started.child.pidfd().get(), "pidfd", "--pidfd-socket");
    write_pid_file(request.pid_file, started.child.pid());
    rising.release();
    started.child.release();
    return std::move(rising.warnings());
  });
}

}  // namespace tare::runtime
