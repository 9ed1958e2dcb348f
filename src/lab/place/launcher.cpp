#include "lab/place/launcher.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "lab/place/chain.hpp"
#include "lab/place/foreign.hpp"
#include "lab/place/forked.hpp"
#include "lab/place/network.hpp"
#include "lab/place/program.hpp"
#include "lab/place/siblings.hpp"
#include "lab/place/verify.hpp"
#include "launch/launch.hpp"

namespace tare::lab {

namespace {

std::pair<sys::Fd, sys::Fd> socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("socketpair", errno);
  return {sys::Fd(ends[0]), sys::Fd(ends[1])};
}

}  // namespace

Launcher::Launcher(MeasuringCgroup& cgroup, std::string directory)
    : cgroup_(cgroup),
      directory_(std::move(directory)),
      facts_(host::facts()),
      plans_(facts_, directory_, cgroup.scratch()),
      program_(sys::open(find_program("tare-work"), O_RDONLY)),
      null_(sys::open("/dev/null", O_RDWR)) {
  facts_.kernel = host::kernel_version();
}

// The place's own cgroup, with its limits.
cgroup::Location Launcher::prepare(const Place& place, const std::string& cgroup) {
  const std::optional<oci::Resources> resources = plans_.resources(place);
  const bool deeper = place.layer == "cgroup-deeper";
  cgroup::Location location = cgroup_.locate(deeper ? cgroup + "/deeper" : cgroup, resources ? &*resources : nullptr);
  cgroup::create(location, true);
  // As an update where the place has limits only: a new container's missing list of devices means the default list.
  if (resources) cgroup::apply(location, *resources, place.layer == "limits");
  return location;
}

Launched Launcher::launch(const plan::Plan& plan, const cgroup::Location& location, const Extras& extras, int forks) {
  auto [ours, theirs] = socket_pair();
  const sys::DirFd v2 = cgroup::open_v2(location);
  launch::Request request;
  request.cgroup_fd = v2.get();
  request.preserve_fds = kKept;
  request.on_hooks = extras.on_hooks;
  request.target_pidfd = extras.join_pidfd;
  request.target_namespaces = extras.join_namespaces;
  const Inherited inherited(null_.get(), theirs.get(), program_.get(), extras.far_tcp, extras.far_udp);
  if (forks == 0) return {launch::start(plan, request).child, std::move(ours)};
  Forked forked = start_forked(forks, ours.get(), [&] { return launch::start(plan, request).child; }, extras.enter);
  Launched launched(std::move(forked.first), std::move(ours));
  launched.worker = extras.enter ? pid_behind(launched.socket) : forked.worker;
  if (launched.worker == 0) throw Error(ErrorKind::child, "the worker does not answer");
  return launched;
}

Launched Launcher::start_plain(const Place& place, const cgroup::Location& location) {
  return launch(plans_.make(place, location), location, {}, place.forks);
}

std::shared_ptr<Chain> Launcher::chain_of(const std::string& name) {
  std::weak_ptr<Chain>& kept = name == "user" ? user_chain_ : pid_chain_;
  std::shared_ptr<Chain> chain = kept.lock();
  if (!chain) kept = chain = std::make_shared<Chain>(*this, name);
  return chain;
}

// `nested`, and the place that these are compared to: born by the same way, without a namespace.
Launched Launcher::start_joined(const Place& place, const cgroup::Location& location) {
  const std::shared_ptr<Chain> chain = chain_of(place.namespaces.empty() ? "user" : place.namespaces.front());
  const int above = place.kind == PlaceKind::nested ? static_cast<int>(place.amount) - 1 : 0;
  Launched launched = chain->start_below(above, place, location);
  launched.company = chain;
  return launched;
}

Launched Launcher::start_with_interface(const Place& place, const cgroup::Location& location) {
  const auto far = std::make_shared<FarEnd>(place.layer);
  Extras extras;
  extras.far_tcp = far->tcp();
  extras.far_udp = far->udp();
  extras.on_hooks = [&far](pid_t pid) { far->connect(pid); };
  Launched launched = launch(plans_.make(place, location), location, extras);
  launched.company = far;
  return launched;
}

Launched Launcher::start_siblings(const Place& place, const cgroup::Location& location, const std::string& cgroup) {
  const auto siblings = std::make_shared<Siblings>(cgroup_, place.layer == "busy");
  Place other{"sibling", Role::subject, PlaceKind::container, {}, 0};
  for (std::int64_t i = 0; i < place.amount; ++i) {
    const std::string name = cat(cgroup, "-sibling", i);
    siblings->add(name, start_plain(other, prepare(other, name)));
  }
  Launched launched = start_plain(place, location);
  launched.company = siblings;
  if (place.layer == "busy") launched.turn = [siblings](bool begins) { siblings->work(begins); };
  return launched;
}

Launched Launcher::start_foreign(const Place& place, const cgroup::Location& location) {
  auto [ours, theirs] = socket_pair();
  const ForeignLaunch launch{place.layer, plans_.container_spec(), plans_.container_filter(),
                             location,    cgroup_.scratch(),       directory_};
  Foreign foreign = [&] {
    const Inherited inherited(null_.get(), theirs.get(), program_.get(), -1, -1);
    return start_foreign_program(launch, ours.get());
  }();
  theirs.reset();
  Launched launched(std::move(foreign.child), std::move(ours));
  launched.worker = worker_of(launched.child, launched.socket, place.layer, foreign.log);
  return launched;
}

Launched Launcher::start(const Place& place, const std::string& cgroup) {
  const cgroup::Location location = prepare(place, cgroup);
  Launched launched = [&] {
    if (place.kind == PlaceKind::nested || place.layer == "joined") return start_joined(place, location);
    if (place.kind == PlaceKind::siblings) return start_siblings(place, location, cgroup);
    if (place.kind == PlaceKind::foreign) return start_foreign(place, location);
    if (has_interface(place)) return start_with_interface(place, location);
    return start_plain(place, location);
  }();
  const bool needs_spec = place.kind == PlaceKind::container || place.kind == PlaceKind::siblings ||
                          place.kind == PlaceKind::foreign || place.kind == PlaceKind::layer;
  verify(place, launched.pid(), location, needs_spec ? &plans_.container_spec() : nullptr);
  return launched;
}

}  // namespace tare::lab
