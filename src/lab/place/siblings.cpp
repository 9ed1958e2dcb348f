#include "lab/place/siblings.hpp"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/error.hpp"

namespace tare::lab {

Siblings::~Siblings() {
  all_.clear();  // kills and reaps: a stopped one, too
  for (const std::string& cgroup : cgroups_) cgroup_.remove_place(cgroup);
}

void Siblings::add(const std::string& cgroup, Launched sibling) {
  cgroups_.push_back(cgroup);
  if (busy_) {
    // Where the laboratory is: not on the workers' CPU, unless there is no other.
    cpu_set_t ours;
    if (sched_getaffinity(0, sizeof ours, &ours) != 0) throw_errno("sched_getaffinity", errno);
    if (sched_setaffinity(sibling.pid(), sizeof ours, &ours) != 0) throw_errno("sched_setaffinity", errno);
    sibling.child.kill(SIGSTOP);
    static constexpr char kForEver[] = "run spawn 1000000000000 0";
    if (send(sibling.socket.get(), kForEver, sizeof kForEver - 1, MSG_NOSIGNAL) < 0) throw_errno("send", errno);
  }
  all_.push_back(std::move(sibling));
}

void Siblings::work(bool begin) {
  for (const Launched& sibling : all_) sibling.child.kill(begin ? SIGCONT : SIGSTOP);
}

}  // namespace tare::lab
