#include "host/mountinfo.hpp"

#include <optional>

namespace tare::host {
namespace {

// Takes the text up to the next blank off the front of `line`.
std::string_view next_field(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return field;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Blank, tab, newline and backslash stand as \ooo.
std::string unescape(std::string_view field) {
  std::string out;
  out.reserve(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size() && is_octal(field[i + 1]) && is_octal(field[i + 2]) &&
        is_octal(field[i + 3])) {
      out += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 + (field[i + 3] - '0'));
      i += 3;
    } else {
      out += field[i];
    }
  }
  return out;
}

// Is `path` at or below `top`?
bool covers(std::string_view top, std::string_view path) {
  if (top == "/") return true;
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

struct Line {
  std::string_view root, mount_point, type, options;
};

// "36 35 98:0 /root /point rw,noatime master:1 - type source super-options", with any number of
// optional fields before the dash.
std::optional<Line> parse(std::string_view line) {
  Line parsed;
  for (int i = 0; i < 3; ++i) next_field(line);
  parsed.root = next_field(line);
  parsed.mount_point = next_field(line);
  next_field(line);
  while (!line.empty())
    if (next_field(line) == "-") break;
  parsed.type = next_field(line);
  next_field(line);
  parsed.options = next_field(line);
  if (parsed.options.empty()) return std::nullopt;
  return parsed;
}

}  // namespace

void CgroupMounts::feed(std::string_view text) {
  const std::optional<Line> line = parse(text);
  if (!line) return;
  const bool v2 = line->type == "cgroup2";
  const bool is_cgroup = v2 || line->type == "cgroup";
  if (!is_cgroup && mounts_.empty()) return;
  const std::string point = unescape(line->mount_point);
  // The kernel lists mounts in the order in which they were made, parents before what is on them: a
  // later one at the same place, or above it, hides the earlier.
  std::erase_if(mounts_, [&](const CgroupMount& mount) { return covers(point, mount.mount_point); });
  if (is_cgroup) mounts_.push_back({point, unescape(line->root), std::string(line->options), v2});
}

}  // namespace tare::host
