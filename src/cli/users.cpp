#include "cli/users.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/report.hpp"

namespace tare::cli {
namespace {

constexpr std::uint64_t kMostGroup = 4 << 20;
constexpr std::uint32_t kNoId = UINT32_MAX;  // "no change" to the kernel

std::optional<std::uint32_t> id(std::string_view text) {
  const std::optional<std::uint32_t> n = parse_number<std::uint32_t>(text);
  return n == kNoId ? std::nullopt : n;
}

// Empty where it is absent or no regular file; a FIFO in its place doesn't hang us.
std::string read_text(const sys::DirFd& root, const std::string& path, std::uint64_t most) {
  sys::Fd file;
  try {
    file = sys::open_in_root(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  } catch (const Error& error) {
    if (error.errno_value() == ENOENT || error.errno_value() == ENOTDIR) return "";
    throw;
  }
  struct stat status{};
  if (fstat(file.get(), &status) != 0) throw_errno(cat("fstat ", path), errno);
  if (!S_ISREG(status.st_mode)) return "";
  return with_intent(path, [&] { return sys::read_all(file, most); });
}

}  // namespace

std::vector<UserEntry> parse_passwd(std::string_view text) {
  std::vector<UserEntry> users;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> f = split(line, ':');
    if (f.size() < 6 || f[0].empty()) continue;
    const auto uid = id(f[2]), gid = id(f[3]);
    if (uid && gid) users.push_back({std::string(f[0]), std::string(f[5]), *uid, *gid});
  }
  return users;
}

std::vector<GroupEntry> parse_group(std::string_view text) {
  std::vector<GroupEntry> groups;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> f = split(line, ':');
    if (f.size() < 4 || f[0].empty()) continue;
    const auto gid = id(f[2]);
    if (!gid) continue;
    GroupEntry group{std::string(f[0]), *gid, {}};
    for (const std::string_view member : split(f[3], ',')) {
      if (!member.empty()) group.members.emplace_back(member);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<UserEntry> read_users(const sys::DirFd& root, std::uint64_t most) {
  return parse_passwd(read_text(root, "/etc/passwd", most));
}

void find_user(HostView& view, std::string_view wanted, const sys::DirFd& root, const std::vector<UserEntry>& users) {
  const std::size_t colon = wanted.find(':');
  const std::string_view user = wanted.empty() ? "0" : wanted.substr(0, colon);
  const bool with_group = colon != std::string_view::npos;
  const std::optional<std::uint32_t> number = id(user);
  const auto found = std::find_if(users.begin(), users.end(),
                                  [&](const UserEntry& u) { return number ? u.uid == *number : u.name == user; });
  if (!number && found == users.end())
    throw Error(ErrorKind::usage, cat("--user: no user ", quoted(user), " in that root"));
  view.uid = number ? *number : found->uid;
  view.gid = found != users.end() ? found->gid : 0;
  view.home = found != users.end() && !found->home.empty() ? found->home : "/";
  if (wanted.empty() || (number && !with_group)) return;

  const std::vector<GroupEntry> groups = parse_group(read_text(root, "/etc/group", kMostGroup));
  if (with_group) {
    const std::string_view group = wanted.substr(colon + 1);
    const auto gid = id(group);
    const auto named = std::find_if(groups.begin(), groups.end(), [&](const GroupEntry& g) { return g.name == group; });
    if (!gid && named == groups.end()) {
      throw Error(ErrorKind::usage, cat("--user: no group ", quoted(group), " in that root"));
    }
    view.gid = gid ? *gid : named->gid;
  } else if (view.euid == 0) {  // an ordinary user may not set groups
    for (const GroupEntry& g : groups) {
      if (std::find(g.members.begin(), g.members.end(), user) != g.members.end()) view.groups.push_back(g.gid);
    }
  }
}

std::string shown_path(std::string_view path) { return shown(path); }

}  // namespace tare::cli
