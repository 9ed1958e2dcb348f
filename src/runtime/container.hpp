// What the verbs share: making a container out of a spec, finding one again, taking it away.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "facts/facts.hpp"
#include "launch/launch.hpp"
#include "plan/plan.hpp"
#include "runtime/runtime.hpp"
#include "seccomp/compile.hpp"
#include "store/store.hpp"

namespace tare::runtime {

// A container on its way up: everything made so far is undone by destruction, unless released.
class Rising {
 public:
  Rising(const Context& context, const CreateRequest& request, bool wait_for_start);
  Rising(const Rising&) = delete;
  ~Rising();

  // Clones and sets up; returns when the program runs, or waits for start.
  launch::Started launch(std::function<void(sys::Fd)> on_console);
  void release() {
    undo_ = false;
    slot_.keep();
  }

  store::Slot& slot() { return slot_; }
  const oci::Spec& spec() const { return spec_; }
  const store::Record& record() const { return record_; }
  Warnings& warnings() { return warnings_; }

 private:
  void load(const CreateRequest& request);
  void complete_spec(const CreateRequest& request);
  void make_plan(const CreateRequest& request, bool wait_for_start);

  const Context& context_;
  Warnings warnings_;
  std::string config_text_;
  oci::Spec spec_;
  std::string bundle_;
  facts::Facts facts_;
  seccomp::Filter filter_;
  int preserve_fds_ = 0;
  store::Slot slot_;  // behind all that load() sets
  store::Record record_;
  store::Slot::Fifos fifos_;
  std::unique_ptr<plan::Plan> plan_ = std::make_unique<plan::Plan>();
  bool wait_for_start_;
  bool cgroups_made_ = false;
  bool hooks_reached_ = false;
  bool undo_ = true;
};

// A container that exists.
struct Found {
  store::Slot slot;
  std::optional<store::Record> record;
  std::optional<store::Init> init;
  bool alive = false;
  std::string damage;     // why there is no record, though there should be one
  Status status() const;  // throws where the state is damaged
};
Found find(const Context& context, const std::string& id, bool lock);

// Its cgroups by descriptor, in which its first process was seen. Throws conflict where it has ended or left them.
cgroup::Pinned held_cgroups(const Found& found);
cgroup::Pinned held_cgroups(const Found& found, const cgroup::Location& cgroups);

// The state that hooks get (runtime.md, "State"); pid 0: none.
std::string hook_state(const store::Record& record, std::string_view status, pid_t pid);
// The same in two parts around the pid.
std::pair<std::string, std::string> hook_state_parts(const store::Record& record, std::string_view status);

// SIGKILL to a container's first process; waits a bounded time for its end.
void kill_init(const store::Init& init);

// poststop hooks; a failing one becomes a warning.
void run_poststop(const oci::Spec& spec, const store::Record& record, Warnings& warnings);
// Parses what create kept. Throws where it can't be read.
oci::Spec kept_spec(const store::Slot& slot);

void write_pid_file(const std::string& path, pid_t pid);
// Connects to an AF_UNIX socket (of any length of path) and sends `bytes` with the descriptor.
void send_descriptor(const std::string& socket_path, int fd, std::string_view bytes, const char* what);

// sd_listen_fds(3): how many descriptors the caller passes for the program; 0 where they are not for us.
// Its variables are put into the environment.
int take_listen_fds(oci::Process& process);

// 3 .. 3+n-1 must be open: what the caller did not pass would be filled with descriptors of ours.
void check_preserved(int n);

std::string absolute_path(const std::string& path);
// HOME of a user as the container's /etc/passwd has it, "/" where it is silent. root: the root file system.
std::string home_of(const sys::DirFd& root, std::uint32_t uid);
// Sets HOME where the environment has none, or an empty one.
void complete_home(oci::Process& process, const std::function<std::string()>& home);

// Mount points that hold data below "/", for the overlay annotation.
std::vector<std::string> data_mounts(std::string_view mountinfo);

// Waits for the program as the foreground of the caller: signals are passed on, a terminal's bytes
// are carried both ways. `master`: the terminal, or invalid.
int attend(sys::Child& child, sys::Fd master, bool default_actions);
// Blocks the signals that attend passes on; before the clone, so that none is lost.
void block_signals();

}  // namespace tare::runtime
