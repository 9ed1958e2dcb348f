// Users and groups by name, from a root's own /etc/passwd and /etc/group.
//
// For: box --user, and finding homes. glibc's lookups load shared code and read the host's files.
// The files belong to whoever made the root: their size is bounded, they must be regular files, and
// lines that make no sense are passed over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/box.hpp"
#include "sys/fd.hpp"

namespace tare::cli {

struct UserEntry {
  std::string name, home;
  std::uint32_t uid = 0, gid = 0;
};

struct GroupEntry {
  std::string name;
  std::uint32_t gid = 0;
  std::vector<std::string> members;
};

std::vector<UserEntry> parse_passwd(std::string_view text);
std::vector<GroupEntry> parse_group(std::string_view text);

// Empty where there is no such file.
std::vector<UserEntry> read_users(const sys::DirFd& root, std::uint64_t most);

// Fills uid, gid, groups and home of the view from "", "UID", "UID:GID", "name" or "name:group". Throws kind usage.
void find_user(HostView& view, std::string_view wanted, const sys::DirFd& root, const std::vector<UserEntry>& users);

// A path for messages.
std::string shown_path(std::string_view path);

}  // namespace tare::cli
