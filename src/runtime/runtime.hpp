// The verbs of the runtime: one function each, one file each.
//
// For: the command line, and anything else that wants a container started in-process. Nothing here
// prints or exits; errors are tare::Error, warnings come back as values.
// Source: runtime-spec, runtime.md; the command-line contract is runc's.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cgroup/usage.hpp"
#include "launch/enter.hpp"
#include "oci/spec.hpp"

namespace tare::runtime {

using Warnings = std::vector<std::string>;

// What holds for every verb.
struct Context {
  std::string root;  // the state folder: /run/tare, or $XDG_RUNTIME_DIR/tare
  bool systemd_cgroup = false;
};

struct CreateRequest {
  std::string id;
  std::string bundle = ".";
  std::string config;          // other than bundle/config.json
  std::string console_socket;  // AF_UNIX path that gets the pty's master
  std::string pidfd_socket;    // AF_UNIX path that gets the pidfd
  std::string pid_file;
  int preserve_fds = 0;
  bool no_pivot = false;
  bool no_new_keyring = false;
  bool init = false;  // a reaper of tare's own is PID 1 and passes signals on
  // Set by box: the spec itself, instead of a bundle's config.json (bundle is then the state's own).
  std::optional<oci::Spec> spec;
};

struct RunRequest : CreateRequest {
  bool detach = false;
  bool keep = false;  // leave state and cgroups after the end
  bool no_subreaper = false;
};

Warnings create(const Context& context, const CreateRequest& request);
Warnings start(const Context& context, const std::string& id);

// Waits unless detached. status: the program's, 128 + signal where one ended it, 0 where detached.
struct RunResult {
  int status = 0;
  Warnings warnings;
};
RunResult run(const Context& context, const RunRequest& request);

struct ExecRequest {
  std::string id;
  std::string process_file;  // whole process object; "-": stdin
  std::vector<std::string> args;
  std::vector<std::string> env;  // added to the container's
  std::optional<std::string> cwd;
  std::optional<std::string> user;  // UID[:GID]
  std::vector<std::uint32_t> additional_gids;
  std::vector<std::string> capabilities;  // added, by name
  std::optional<std::string> apparmor, process_label;
  bool no_new_privs = false;
  bool tty = false;
  bool detach = false;
  std::string console_socket, pidfd_socket, pid_file;
  int preserve_fds = 0;
  std::string cgroup;  // sub-cgroup of the container's
  bool ignore_paused = false;
};
RunResult exec(const Context& context, const ExecRequest& request);

// A program in the namespaces of any process; waits for its end, as exec does.
RunResult enter(const launch::EnterRequest& request);

enum class Status { creating, created, running, paused, stopped };
std::string_view status_name(Status status);

// What `state` and `list` print.
struct ContainerState {
  std::string oci_version, id, bundle, rootfs, created, owner;  // created: RFC 3339 with nanoseconds
  Status status = Status::stopped;
  pid_t pid = 0;  // 0 where stopped
  std::map<std::string, std::string> annotations;
};
ContainerState state(const Context& context, const std::string& id);
// Sorted by id. Folders that hold no readable state give a warning and are left out.
std::vector<ContainerState> list(const Context& context, Warnings& warnings);

void kill(const Context& context, const std::string& id, int signal, bool all);
// force: a running one is killed first; an absent one is no error.
Warnings remove(const Context& context, const std::string& id, bool force);
void pause(const Context& context, const std::string& id);
void resume(const Context& context, const std::string& id);
// New limits; in the kept configuration, too. All or nothing.
void update(const Context& context, const std::string& id, const oci::Resources& resources);

// What `events` tells, each as it comes, until the container ends.
struct NetworkCounts {
  std::string name;  // printable ASCII
  std::uint64_t rx_bytes = 0, rx_packets = 0, rx_errors = 0, rx_dropped = 0;
  std::uint64_t tx_bytes = 0, tx_packets = 0, tx_errors = 0, tx_dropped = 0;
};
struct Event {
  bool oom = false;  // the kernel found no more memory within the limit; no counts then
  cgroup::Usage usage;
  std::vector<NetworkCounts> network;  // of a network namespace of its own
};
using OnEvent = std::function<void(const Event&)>;
// once: one of counts, and no more; else every `interval`.
void events(const Context& context, const std::string& id, bool once, std::chrono::milliseconds interval,
            const OnEvent& on_event);
// What /proc/PID/net/dev says.
std::vector<NetworkCounts> parse_net_dev(std::string_view text);
std::vector<pid_t> ps(const Context& context, const std::string& id);

}  // namespace tare::runtime
