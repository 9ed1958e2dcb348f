// Source: user_namespaces(7), "User and group ID mappings"; newuidmap(1).
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "launch/launch.hpp"

namespace tare::launch {
namespace {

bool single_own_id(const std::vector<oci::IdMapping>& maps, std::uint32_t own) {
  return maps.size() == 1 && maps[0].size == 1 && maps[0].host_id == own;
}

std::string map_text(const std::vector<oci::IdMapping>& maps) {
  std::string text;
  for (const auto& m : maps) text += cat(m.container_id, " ", m.host_id, " ", m.size, "\n");
  return text;
}

// By a helper that is set-user-ID or has file capabilities: found at fixed places, never by PATH.
void run_helper(const char* name, pid_t pid, const std::vector<oci::IdMapping>& maps) {
  std::string path = cat("/usr/bin/", name);
  if (::access(path.c_str(), X_OK) != 0) path = cat("/usr/local/bin/", name);
  std::vector<std::string> args{name, cat(pid)};
  for (const auto& m : maps)
    for (const auto n : {m.container_id, m.host_id, m.size}) args.push_back(cat(n));
  std::vector<char*> argv;
  for (auto& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  char* const envp[] = {nullptr};
  pid_t helper = 0;
  const int failed = ::posix_spawn(&helper, path.c_str(), nullptr, nullptr, argv.data(), envp);
  if (failed == ENOENT) {
    throw Error(ErrorKind::unsupported,
                cat("linux.uidMappings: ", name, " is missing, which maps ranges for ordinary users"), failed)
        .hint("install the package uidmap, or map only your own id");
  }
  if (failed != 0) throw_errno(path, failed);
  int status = 0;
  while (::waitpid(helper, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0)
    throw Error(ErrorKind::kernel, cat(name, " refused the mapping \"", trim(map_text(maps)), "\""))
        .hint("see /etc/subuid and /etc/subgid for the ranges that are yours");
}

void write_proc(pid_t pid, const char* file, std::string_view text) {
  const auto path = cat("/proc/", pid, "/", file);
  const sys::Fd fd = sys::open(path, O_WRONLY);
  // The kernel takes a map in one write only.
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw_errno(cat("write ", quoted(text), " to ", path), errno);
}

}  // namespace

bool maps_need_setgroups_denied(const std::vector<oci::IdMapping>& gids, std::uint32_t euid, std::uint32_t egid) {
  return euid != 0 && single_own_id(gids, egid);
}

void write_id_maps(pid_t pid, const std::vector<oci::IdMapping>& uids, const std::vector<oci::IdMapping>& gids) {
  const auto euid = ::geteuid();
  const auto egid = ::getegid();
  with_intent("linux.uidMappings", [&] {
    if (euid == 0 || single_own_id(uids, euid))
      write_proc(pid, "uid_map", map_text(uids));
    else
      run_helper("newuidmap", pid, uids);
  });
  with_intent("linux.gidMappings", [&] {
    if (maps_need_setgroups_denied(gids, euid, egid)) write_proc(pid, "setgroups", "deny");
    if (euid == 0 || single_own_id(gids, egid))
      write_proc(pid, "gid_map", map_text(gids));
    else
      run_helper("newgidmap", pid, gids);
  });
}

}  // namespace tare::launch
