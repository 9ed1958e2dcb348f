// The spec of `tare box`, from its options and what was seen of the host. Pure.
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/box.hpp"
#include "oci/names.hpp"
#include "oci/validate.hpp"
#include "oci/write.hpp"
#include "seccomp/default_profile.hpp"

namespace tare::cli {
namespace {

constexpr std::int64_t kDefaultPids = 4096;
constexpr std::int64_t kCpuPeriod = 100000;  // microseconds, the kernel's own default
constexpr const char* kPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::uint32_t kIds = 65536;  // as many as a full range of subordinate ids

// What engines leave a container's root: it may act as any user inside, own files, bind low ports,
// and nothing that reaches past the container. No raw sockets, no device nodes.
constexpr std::string_view kCapabilities[] = {"CAP_CHOWN",   "CAP_DAC_OVERRIDE",     "CAP_FOWNER",    "CAP_FSETID",
                                              "CAP_KILL",    "CAP_NET_BIND_SERVICE", "CAP_SETFCAP",   "CAP_SETGID",
                                              "CAP_SETPCAP", "CAP_SETUID",           "CAP_SYS_CHROOT"};

bool names_variable(const std::vector<std::string>& env, std::string_view name) {
  for (const std::string& e : env) {
    if (std::string_view(e).substr(0, e.find('=')) == name) return true;
  }
  return false;
}

oci::Process make_process(const BoxOptions& options, const HostView& view) {
  oci::Process p;
  p.terminal = options.tty;
  // Right from the start: a size that is set when the program runs already may come too late for it.
  if (options.tty) p.console_size = view.size;
  p.user.uid = view.uid;
  p.user.gid = view.gid;
  p.user.additional_gids = view.groups;
  p.args = options.args.empty() ? std::vector<std::string>{view.shell} : options.args;
  p.cwd = options.workdir;
  p.no_new_privileges = true;
  p.env = {kPath, cat("HOME=", view.home)};
  if (!view.term.empty()) p.env.push_back(cat("TERM=", view.term));
  if (!view.lang.empty()) p.env.push_back(cat("LANG=", view.lang));
  for (const std::string& e : options.env) {
    std::erase_if(p.env, [&](const std::string& old) {
      return names_variable({old}, std::string_view(e).substr(0, e.find('=')));
    });
    p.env.push_back(e);
  }
  oci::Capabilities caps;
  caps.bounding = box_capabilities() & view.bounding;
  // A user other than root starts without any, and no_new_privileges keeps it so.
  if (view.uid == 0) caps.effective = caps.permitted = caps.bounding;
  p.capabilities = caps;
  return p;
}

oci::Mount tmpfs(const std::string& destination, std::string_view mode) {
  oci::Mount m;
  m.destination = destination;
  m.type = "tmpfs";
  m.source = "tmpfs";
  m.options = {"nosuid", "nodev", cat("mode=", mode)};
  return m;
}

std::string_view mode_of(std::string_view folder) {
  if (folder == "/tmp" || folder == "/var/tmp") return "1777";
  if (folder == "/root") return "0700";
  return "0755";
}

oci::Mount bind(const std::string& source, const std::string& destination, bool read_only) {
  oci::Mount m;
  m.destination = destination;
  m.type = "bind";
  m.source = source;
  m.options = {"rbind", "rprivate", "nosuid", "nodev"};
  if (read_only) m.options.emplace_back("rro");
  return m;
}

void set_root(oci::Spec& spec, const BoxOptions& options) {
  spec.root.readonly = options.read_only;
  if (!options.rootfs.empty()) {
    spec.root.path = options.rootfs;
    return;
  }
  spec.root.path = "/";
  if (options.userns) {
    // The mounts below "/" are locked together in a new user namespace; overlayfs refuses such a layer.
    spec.root.readonly = true;
  } else {
    spec.annotations[oci::kAnnotationRootOverlay] = "tmpfs";
  }
}

void set_resources(oci::Spec& spec, const BoxOptions& options, const HostView& view) {
  oci::Resources& r = *spec.linux_.resources;
  if (options.memory) {
    r.memory.emplace();
    r.memory->limit = options.memory;
  }
  if (options.cpus) {
    r.cpu.emplace();
    r.cpu->period = kCpuPeriod;
    r.cpu->quota = *options.cpus * kCpuPeriod / 1000;
  }
  if (options.pids) {
    if (*options.pids > 0) r.pids_limit = options.pids;
  } else if (view.euid == 0) {
    r.pids_limit = kDefaultPids;  // a fork bomb stays inside; an ordinary user rarely has a cgroup to say so in
  }
}

void set_namespaces(oci::Spec& spec, const BoxOptions& options, const HostView& view) {
  using Type = oci::NamespaceType;
  spec.linux_.namespaces.clear();
  for (const Type type : {Type::pid, Type::ipc, Type::uts, Type::mount, Type::cgroup}) {
    spec.linux_.namespaces.push_back({type, ""});
  }
  if (!options.host_net) spec.linux_.namespaces.push_back({Type::network, ""});
  spec.linux_.uid_mappings.clear();
  spec.linux_.gid_mappings.clear();
  if (!options.userns) return;
  spec.linux_.namespaces.push_back({Type::user, ""});
  if (view.euid == 0) {
    // The same numbers inside and outside: files keep their owners, while capabilities end at the
    // namespace.
    spec.linux_.uid_mappings = {{0, 0, kIds}};
    spec.linux_.gid_mappings = {{0, 0, kIds}};
  } else {
    spec.linux_.uid_mappings = {{0, view.euid, 1}};
    spec.linux_.gid_mappings = {{0, view.egid, 1}};
  }
}

// A sysfs shows the devices of a network namespace, so the kernel makes one only for whoever owns
// that: with the host's network and a user namespace the host's own is shown instead.
void show_hosts_sysfs(oci::Spec& spec) {
  for (oci::Mount& m : spec.mounts) {
    if (m.type != "sysfs") continue;
    m.type = "none";
    m.source = "/sys";
    m.options = {"rbind", "nosuid", "noexec", "nodev", "ro"};
  }
}

// Masks come after all mounts, so one above a --bind would cover it: an empty folder that is mounted
// before does the same for the rest.
void hide(oci::Spec& spec, const BoxOptions& options, const std::string& path) {
  bool above = false;
  for (const BoxBind& b : options.binds) {
    const std::string destination = oci::clean_path(b.destination);
    if (destination == path) return;  // covered by what was asked for
    above = above || destination.starts_with(path + "/");
  }
  if (above) {
    spec.mounts.push_back(tmpfs(path, "0755"));
  } else {
    spec.linux_.masked_paths.push_back(path);
  }
}

void set_mounts(oci::Spec& spec, const BoxOptions& options, const HostView& view) {
  if (options.userns && options.host_net) show_hosts_sysfs(spec);
  if (options.rootfs.empty()) {
    if (spec.root.readonly) {
      for (const std::string& place : view.submounts) spec.mounts.push_back(bind(place, place, true));
    }
    for (const std::string& folder : view.emptied) spec.mounts.push_back(tmpfs(folder, mode_of(folder)));
    if (!view.resolver.empty()) spec.mounts.push_back(bind(view.resolver, view.resolver, true));
    for (const std::string& path : view.masked) hide(spec, options, path);
  }
  for (const BoxBind& b : options.binds) spec.mounts.push_back(bind(b.source, b.destination, b.read_only));
}

}  // namespace

std::uint64_t box_capabilities() {
  std::uint64_t set = 0;
  for (const std::string_view name : kCapabilities) set |= std::uint64_t{1} << *oci::capability_number(name);
  return set;
}

oci::Spec make_box_spec(const BoxOptions& options, const HostView& view) {
  // The mounts, masked and read-only paths are those of `tare spec`.
  oci::Spec spec = oci::default_spec(view.euid != 0, view.euid, view.egid);
  spec.process = make_process(options, view);
  spec.hostname = options.hostname;
  if (!spec.linux_.resources) spec.linux_.resources.emplace();
  set_root(spec, options);
  set_resources(spec, options, view);
  set_namespaces(spec, options, view);
  set_mounts(spec, options, view);
  spec.linux_.seccomp.reset();
  if (options.seccomp == "default") {
    spec.linux_.seccomp = seccomp::default_profile(spec.process->capabilities->bounding);
  } else if (options.seccomp != "off") {
    spec.linux_.seccomp = view.seccomp;
  }
  return spec;
}

}  // namespace tare::cli
