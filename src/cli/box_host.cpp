// What `tare box` must know of the caller and of the root that will be shown.
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/box.hpp"
#include "cli/users.hpp"
#include "oci/parse.hpp"
#include "sys/fd.hpp"

namespace tare::cli {
namespace {

// Folders that get a writable tmpfs of their own: others' files or sockets lie there, and programs
// expect to write there. Logs quote what services were told.
constexpr std::string_view kEmptied[] = {"/tmp", "/var/tmp", "/run", "/root", "/home", "/var/log"};

// Files that look empty, and folders that look empty and can't be written. One line a reason.
constexpr std::string_view kMasked[] = {
    // Password hashes, and the copies that tools leave.
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/security/opasswd", "/var/backups",
    // Keys of this host and of its services.
    "/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/private", "/etc/letsencrypt", "/etc/krb5.keytab",
    "/etc/ipsec.secrets", "/etc/ipsec.d/private", "/etc/swanctl/private", "/etc/wireguard", "/etc/openvpn", "/etc/tinc",
    "/etc/luks", "/etc/cryptsetup-keys.d", "/etc/cryptsetup-initramfs", "/etc/credstore", "/etc/credstore.encrypted",
    "/var/lib/systemd/credential.secret", "/var/lib/systemd/random-seed", "/boot",
    // Passwords of networks and services.
    "/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/var/lib/iwd", "/var/lib/bluetooth",
    "/etc/ppp/chap-secrets", "/etc/ppp/pap-secrets", "/etc/netplan", "/etc/mysql/debian.cnf",
    "/etc/exim4/passwd.client", "/etc/postfix/sasl_passwd", "/etc/postfix/sasl_passwd.db", "/etc/msmtprc", "/etc/sssd",
    "/etc/ldap.secret", "/etc/libnss-ldap.secret", "/etc/pam_ldap.secret", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/redis", "/etc/grafana",
    // Credentials of clouds and clusters, and what a cloud hands to a machine at boot.
    "/etc/boto.cfg", "/etc/aws", "/etc/azure", "/etc/google", "/etc/kubernetes", "/etc/rancher", "/etc/docker",
    "/etc/containers/auth.json", "/etc/vault.d", "/etc/consul.d", "/etc/nomad.d", "/var/lib/cloud", "/var/lib/waagent",
    "/var/lib/amazon",
    // Stores of engines and virtual machines: images, volumes, other containers' files.
    "/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet", "/var/lib/rancher",
    "/var/lib/etcd", "/var/lib/libvirt", "/var/lib/lxc", "/var/lib/lxd", "/var/lib/incus", "/var/lib/machines",
    "/var/lib/portables", "/var/snap",
    // Data and mail of services and users.
    "/var/lib/mysql", "/var/lib/postgresql", "/var/lib/mongodb", "/var/lib/redis", "/var/lib/ldap",
    "/var/lib/samba/private", "/var/lib/sss", "/var/lib/private", "/var/lib/jenkins", "/var/lib/gitea",
    "/var/lib/gitlab", "/var/lib/vault", "/var/lib/pgsql", "/var/lib/influxdb", "/var/lib/elasticsearch",
    "/var/lib/grafana", "/var/lib/krb5kdc", "/var/lib/samba/passdb.tdb", "/var/lib/tailscale", "/var/lib/tor",
    "/var/lib/caddy", "/var/lib/zerotier-one", "/var/lib/rabbitmq", "/var/lib/crio", "/var/lib/k0s", "/etc/krb5kdc",
    "/etc/apt/auth.conf", "/etc/apt/auth.conf.d", "/etc/samba/smbpasswd", "/etc/dovecot/private", "/etc/bind/rndc.key",
    "/etc/chrony/chrony.keys", "/etc/davfs2", "/etc/gitlab", "/etc/pve", "/etc/etcd", "/etc/openldap",
    "/etc/iscsi/iscsid.conf", "/etc/crio", "/etc/rclone.conf", "/etc/cifs-credentials", "/var/lib/NetworkManager",
    "/var/mail", "/var/spool", "/srv",
    // Other disks, and files put aside.
    "/mnt", "/media", "/lost+found"};

constexpr std::uint64_t kMostPasswd = 4 << 20;
constexpr std::uint64_t kMostProfile = 4 << 20;

std::string from_env(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Reachable for this process: what an ordinary user can't reach needs no hiding.
bool exists(const std::string& path) { return faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0; }
// A file system is mounted from inside its place.
bool enterable(const std::string& path) { return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0; }

// ssh_host_*: every kind of key has a file of its own.
void add_ssh_keys(std::vector<std::string>& masked) {
  const sys::DirFd dir(::open("/etc/ssh", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir) return;
  std::vector<std::string> names = sys::list_dir(dir);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (name.starts_with("ssh_host_") && !name.ends_with(".pub") && exists(cat("/etc/ssh/", name))) {
      masked.push_back(cat("/etc/ssh/", name));
    }
  }
}

// Of these, as the home of anyone, nothing may be hidden.
bool of_the_system(std::string_view folder) {
  for (const std::string_view name : {"/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc",
                                      "/sbin", "/sys", "/usr", "/var"}) {
    if (folder == name) return true;
  }
  return folder.starts_with("/usr/") || folder.starts_with("/lib/") || folder.size() < 2 || !folder.starts_with('/');
}

// Homes that lie elsewhere than in /home. Those of services are folders of the system (/var/www), so
// only people's are meant: uid 1000 and more.
void add_other_homes(std::vector<std::string>& masked, const std::vector<UserEntry>& users) {
  for (const UserEntry& u : users) {
    const std::string& home = u.home;
    const bool system = u.uid < 1000 || u.uid == 65534;
    const bool covered =
        home.starts_with("/home/") || home == "/root" || home.starts_with("/root/") || home.starts_with("/run/");
    if (system || covered || of_the_system(home) || !exists(home)) continue;
    if (std::find(masked.begin(), masked.end(), home) == masked.end()) masked.push_back(home);
  }
}

void look_for_secrets(HostView& view, const BoxOptions& options, const std::vector<UserEntry>& users) {
  if (options.show_secrets) {
    // Under a read-only root somewhere to write is needed all the same.
    if (options.userns) view.emptied = {"/tmp", "/var/tmp", "/run"};
    return;
  }
  for (const std::string_view folder : kEmptied) {
    if (enterable(std::string(folder))) view.emptied.emplace_back(folder);
  }
  for (const std::string_view path : kMasked) {
    if (exists(std::string(path))) view.masked.emplace_back(path);
  }
  add_ssh_keys(view.masked);
  add_other_homes(view.masked, users);
}

// A read-only root says nothing about what is mounted below it.
void look_for_submounts(HostView& view) {
  for (std::string& place : parse_submounts(sys::read_file("/proc/self/mountinfo"))) {
    // What can't be reached (another user's FUSE, a folder that is closed to us) can't be written to, either.
    if (exists(place)) view.submounts.push_back(std::move(place));
  }
}

// With the host's network the host's resolver is wanted as well, which often lies in /run.
void look_for_resolver(HostView& view, const BoxOptions& options) {
  char real[PATH_MAX];
  if (!options.host_net || realpath("/etc/resolv.conf", real) == nullptr) return;
  if (std::string_view(real).starts_with("/run/") && !options.show_secrets) view.resolver = real;
}

// The file is linux.seccomp of config.json. Profiles of engines look alike, but hold conditions
// ("includes", "archMap") which the engine resolves; to pass over those would allow too much.
oci::Seccomp read_profile(const std::string& path) {
  const std::string text = sys::read_file(path, kMostProfile);
  const json::Document document(text, path);
  const json::Field root = document.root();
  const json::Field calls = root.member("syscalls");
  bool of_engine = root.member("archMap").present();
  for (std::size_t i = 0; calls && i < calls.size(); ++i) {
    const json::Field call = calls.at(i);
    for (const std::string_view condition : {"includes", "excludes"}) {
      const json::Field field = call.member(condition);
      of_engine = of_engine || (field && field.size() > 0);
    }
  }
  if (of_engine) {
    throw Error(ErrorKind::unsupported, cat("--seccomp: ", shown_path(path),
                                            " is an engine's profile with conditions, not a linux.seccomp object"))
        .hint("the engine writes the resolved profile into the config.json of a container");
  }
  return oci::parse_seccomp(text, path);
}

// A path of mountinfo, where blanks and the like stand as \040.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '\\' ? parse_number<unsigned>(text.substr(i + 1, 3), 8) : std::nullopt;
    if (code && *code < 256) {
      out += static_cast<char>(*code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool at_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

std::vector<std::string> parse_submounts(std::string_view mountinfo) {
  // proc_pid_mountinfo(5): ID parent major:minor root MOUNT-POINT OPTIONS [tags] - type source options
  std::vector<std::string> places;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 2) continue;
    const std::string place = unescape(words[4]);
    const std::string_view type = *(dash + 1);
    bool known = place == "/" || type == "autofs" || words[5].starts_with("ro,") || words[5] == "ro";
    for (const std::string_view replaced : {"/proc", "/sys", "/dev"}) known = known || at_or_below(place, replaced);
    for (const std::string& other : places) known = known || at_or_below(place, other);
    if (known) continue;
    std::erase_if(places, [&](const std::string& other) { return at_or_below(other, place); });
    places.push_back(place);
  }
  return places;
}

HostView look_at_caller() {
  HostView view;
  view.euid = geteuid();
  view.egid = getegid();
  view.tty = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (view.tty && ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) view.size = {size.ws_row, size.ws_col};
  view.term = from_env("TERM");
  view.lang = from_env("LANG");
  view.bounding = 0;
  for (unsigned long n = 0; n < 64; ++n) {
    const std::uint64_t bit = std::uint64_t{1} << n;
    if ((box_capabilities() & bit) != 0 && prctl(PR_CAPBSET_READ, n, 0, 0, 0) == 1) view.bounding |= bit;
  }
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) == nullptr) throw_errno("getcwd", errno);
  view.current_folder = folder;
  return view;
}

void look_at_root(HostView& view, const BoxOptions& options) {
  const std::string root_path = options.rootfs.empty() ? "/" : options.rootfs;
  // O_PATH: all below is looked up inside that root, whatever links it holds.
  const sys::DirFd root(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) throw_errno(cat("--rootfs: open ", shown_path(root_path)), errno);
  const std::vector<UserEntry> users = read_users(root, kMostPasswd);
  find_user(view, options.user, root, users);
  for (const char* shell : {"/bin/bash", "/bin/sh"}) {
    try {
      sys::open_in_root(root, shell, O_PATH);
      view.shell = shell;
      break;
    } catch (const Error&) {
      continue;  // absent; without any, the start says so about /bin/sh
    }
  }
  if (options.rootfs.empty()) {
    look_for_secrets(view, options, users);
    look_for_resolver(view, options);
    if (options.userns || options.read_only) look_for_submounts(view);
    // A home that can't be entered is none: root's own, for an ordinary user.
    if (view.euid != 0 && !enterable(view.home)) view.home = "/home";
  }
  if (options.seccomp != "default" && options.seccomp != "off") view.seccomp = read_profile(options.seccomp);
}

}  // namespace tare::cli
