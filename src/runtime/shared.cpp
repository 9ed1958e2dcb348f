// Small things that several verbs need.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "launch/hooks.hpp"
#include "oci/parse.hpp"
#include "runtime/container.hpp"

namespace tare::runtime {

namespace {
// The longest passwd file that is looked at: it comes from the image (CVE-2026-135844).
constexpr std::size_t kMostPasswd = 1 << 20;
}  // namespace

std::pair<std::string, std::string> hook_state_parts(const store::Record& record, std::string_view status) {
  json::Writer writer;
  writer.begin_object();
  writer.key("ociVersion").string(record.oci_version);
  writer.key("id").string(record.id);
  writer.key("status").string(status);
  writer.key("bundle").string(record.bundle);
  if (!record.annotations.empty()) {
    writer.key("annotations").begin_object();
    for (const auto& [key, value] : record.annotations) writer.key(key).string(value);
    writer.end_object();
  }
  writer.key("pid").raw("");
  writer.end_object();
  std::string text = writer.take();
  return {text.substr(0, text.size() - 1), "}"};
}

std::string hook_state(const store::Record& record, std::string_view status, pid_t pid) {
  const auto [before, after] = hook_state_parts(record, status);
  return cat(before, pid, after);
}

void run_poststop(const oci::Spec& spec, const store::Record& record, Warnings& warnings) {
  const auto state = hook_state(record, "stopped", 0);
  for (std::size_t i = 0; i < spec.hooks.poststop.size(); ++i) {
    try {
      launch::run_hook(spec.hooks.poststop[i], state, record.bundle, cat("hooks.poststop[", i, "]"));
    } catch (const Error& error) {
      // runtime.md, step 13: the rest goes on.
      warnings.push_back(error.text());
    }
  }
}

oci::Spec kept_spec(const store::Slot& slot) {
  Warnings ignored;  // create has told them
  return oci::parse_spec(slot.read_config(), cat(slot.path(), "/state.json"), ignored);
}

void write_pid_file(const std::string& path, pid_t pid) {
  if (path.empty()) return;
  with_intent(cat("--pid-file ", path), [&] {
    // In a folder that others may write to, a name that they can't have prepared.
    const auto fresh = cat(path, ".", ::getpid(), ".new");
    sys::write_all(sys::open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644), cat(pid));
    if (::rename(fresh.c_str(), path.c_str()) < 0) throw_errno("rename", errno);
  });
}

void send_descriptor(const std::string& socket_path, int fd, std::string_view bytes, const char* what) {
  with_intent(cat(what, " ", socket_path), [&] {
    const sys::Fd sock(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!sock) throw_errno("socket", errno);
    // sun_path holds 107 bytes; through a descriptor of the folder any length will do.
    const auto slash = socket_path.rfind('/');
    const auto folder = slash == std::string::npos ? std::string(".") : socket_path.substr(0, slash + 1);
    const sys::Fd handle = sys::open(folder, O_PATH | O_DIRECTORY);
    const auto path = socket_path.size() < sizeof(sockaddr_un::sun_path)
                          ? socket_path
                          : cat("/proc/self/fd/", handle.get(), "/", socket_path.substr(slash + 1));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw_errno("connect", ENAMETOOLONG);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    if (::connect(sock.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
      throw_errno("connect", errno);
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    if (::sendmsg(sock.get(), &header, MSG_NOSIGNAL) < 0) throw_errno("sendmsg", errno);
  });
}

int take_listen_fds(oci::Process& process) {
  const char* count_text = ::getenv("LISTEN_FDS");
  const char* pid_text = ::getenv("LISTEN_PID");
  if (count_text == nullptr || (pid_text != nullptr && parse_number<pid_t>(pid_text) != ::getpid())) return 0;
  const auto count = parse_number<int>(count_text);
  if (!count || *count <= 0 || *count > 4096) return 0;
  std::erase_if(process.env,
                [](const auto& e) { return e.starts_with("LISTEN_FDS=") || e.starts_with("LISTEN_PID="); });
  process.env.push_back(cat("LISTEN_FDS=", *count));
  process.env.push_back("LISTEN_PID=1");
  return *count;
}

void check_preserved(int n) {
  for (int fd = 3; fd < 3 + n; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0)
      throw Error(ErrorKind::usage, cat("--preserve-fds ", n, ": descriptor ", fd, " was not passed"));
  }
}

std::string home_of(const sys::DirFd& root, std::uint32_t uid) {
  std::string text;
  try {
    // Not to be held up by a fifo, nor fed without end: the image chooses what lies there.
    const sys::Fd handle = sys::open_in_root(root, "/etc/passwd", O_PATH);
    struct stat st{};
    if (::fstat(handle.get(), &st) < 0 || !S_ISREG(st.st_mode)) return "/";
    const sys::Fd fd = sys::open(cat("/proc/self/fd/", handle.get()), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    text = sys::read_all(fd, kMostPasswd);
  } catch (const Error&) {
    return "/";
  }
  for (const auto line : split(text, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() >= 7 && parse_number<std::uint32_t>(fields[2]) == uid && fields[5].starts_with('/'))
      return std::string(fields[5]);
  }
  return "/";
}

void complete_home(oci::Process& process, const std::function<std::string()>& home) {
  for (const auto& entry : process.env)
    if (entry.starts_with("HOME=") && entry.size() > 5) return;
  std::erase(process.env, "HOME=");
  process.env.push_back("HOME=" + home());
}

std::vector<std::string> data_mounts(std::string_view mountinfo) {
  std::vector<std::string> found;
  for (const auto line : split(mountinfo, '\n')) {
    const auto dash = line.find(" - ");
    const auto fields = split(line.substr(0, dash == std::string_view::npos ? 0 : dash), ' ');
    if (fields.size() < 6) continue;
    const std::string_view point = fields[4];
    const std::string_view type = line.substr(dash + 3, line.find(' ', dash + 3) - dash - 3);
    constexpr std::string_view kData[] = {"ext4", "ext3", "ext2", "xfs", "btrfs", "f2fs", "zfs", "squashfs", "erofs"};
    const bool data = std::find(std::begin(kData), std::end(kData), type) != std::end(kData);
    // A blank or a comma in the path would have to be escaped for overlay's options; such a mount is left out.
    if (!data || point == "/" || point.find_first_of("\\,:") != std::string_view::npos) continue;
    constexpr std::string_view kSystem[] = {"/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp", "/boot"};
    const bool system = std::any_of(std::begin(kSystem), std::end(kSystem), [&](std::string_view top) {
      return point == top || (point.starts_with(top) && point.substr(top.size()).starts_with('/'));
    });
    if (!system) found.emplace_back(point);
  }
  return found;
}

}  // namespace tare::runtime
