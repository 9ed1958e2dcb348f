#include "nsview/parse.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tare::nsview {
namespace {

// Takes the text up to the next separator off the front.
std::string_view next(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

template <class T>
T number(std::string_view text) {
  return parse_number<T>(text).value_or(T{});
}

std::string unescape(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto code = field[i] == '\\' ? parse_number<unsigned>(field.substr(i + 1, 3), 8) : std::nullopt;
    if (code && *code < 256 && i + 3 < field.size()) {
      out += static_cast<char>(*code);
      i += 3;
    } else {
      out += field[i];
    }
  }
  return out;
}

}  // namespace

std::optional<NamespaceName> parse_namespace(std::string_view text) {
  const std::size_t colon = text.find(":[");
  if (colon == std::string_view::npos || text.back() != ']') return std::nullopt;
  const auto inode = parse_number<std::uint64_t>(text.substr(colon + 2, text.size() - colon - 3));
  if (!inode) return std::nullopt;
  const std::string_view kind = text.substr(0, colon);
  for (std::size_t i = 0; i < kKinds; ++i)
    if (kind == kKindInfo[i].name) return NamespaceName{static_cast<Kind>(i), *inode};
  return std::nullopt;
}

std::optional<Stat> parse_stat(std::string_view text) {
  // The name may hold parentheses, blanks and line ends: it ends at the last parenthesis.
  const std::size_t open = text.find(" ("), close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) return std::nullopt;
  Stat stat;
  const auto pid = parse_number<pid_t>(text.substr(0, open));
  if (!pid) return std::nullopt;
  stat.pid = *pid;
  stat.name = text.substr(open + 2, close - open - 2);
  text.remove_prefix(close + 2);
  for (int field = 3; field <= 23; ++field) {
    const std::string_view word = next(text, ' ');
    if (word.empty()) return std::nullopt;
    switch (field) {
      case 3:
        stat.state = word.front();
        break;
      case 4:
        stat.ppid = number<pid_t>(word);
        break;
      case 5:
        stat.group = number<pid_t>(word);
        break;
      case 6:
        stat.session = number<pid_t>(word);
        break;
      case 7:
        stat.tty = number<int>(word);
        break;
      case 9:
        stat.flags = number<std::uint64_t>(word);
        break;
      case 14:
        stat.user_ticks = number<std::uint64_t>(word);
        break;
      case 15:
        stat.system_ticks = number<std::uint64_t>(word);
        break;
      case 20:
        stat.threads = number<std::uint32_t>(word);
        break;
      case 22:
        stat.start = number<std::uint64_t>(word);
        break;
      case 23:
        stat.virtual_bytes = number<std::uint64_t>(word);
        break;
      default:
        break;
    }
  }
  return stat;
}

std::optional<Status> parse_status(std::string_view text) {
  Status status;
  while (!text.empty()) {
    std::string_view line = next(text, '\n');
    const std::string_view key = next(line, ':');
    if (key == "Tgid") {
      status.group_leader = number<pid_t>(trim(line));
    } else if (key == "Uid") {
      next(line, '\t');
      next(line, '\t');
      status.uid = number<std::uint32_t>(next(line, '\t'));
    } else if (key == "NSpid") {
      next(line, '\t');
      while (!line.empty()) status.numbers.push_back(number<pid_t>(next(line, '\t')));
    } else if (key == "VmRSS") {
      line = trim(line);
      status.resident = number<std::uint64_t>(next(line, ' ')) * 1024;
      break;
    }
  }
  if (status.numbers.empty()) return std::nullopt;
  return status;
}

std::optional<CgroupLine> parse_cgroup_line(std::string_view line) {
  if (line.find(':') == std::string_view::npos) return std::nullopt;
  next(line, ':');
  if (line.find(':') == std::string_view::npos) return std::nullopt;
  CgroupLine parsed;
  parsed.controllers = next(line, ':');
  parsed.path = line;
  return parsed;
}

std::vector<NamespaceMount> namespace_mounts(std::string_view mountinfo) {
  std::vector<NamespaceMount> mounts;
  while (!mountinfo.empty()) {
    const std::string_view line = next(mountinfo, '\n');
    // Most mounts are none: those are told by the type behind the dash.
    const std::size_t dash = line.find(" - nsfs ");
    if (dash == std::string_view::npos) continue;
    std::string_view rest = line.substr(0, dash);
    for (int i = 0; i < 3; ++i) next(rest, ' ');
    const auto name = parse_namespace(next(rest, ' '));
    if (name) mounts.push_back({*name, unescape(next(rest, ' '))});
  }
  return mounts;
}

}  // namespace tare::nsview
