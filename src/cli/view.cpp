#include "cli/view.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "nsview/text.hpp"
#include "store/store.hpp"

namespace tare::cli {
namespace {

constexpr std::size_t kShortId = 12, kLeastOfAnId = 4;

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string_view cut(std::string_view text, std::size_t width) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (seen++ == width) return text.substr(0, i);
  }
  return text;
}

nsview::Known known_of(const std::string& id, const cgroup::Location& location) {
  nsview::Known known{"tare", id, {}};
  for (const cgroup::Entry& entry : location.entries) {
    known.places.push_back({entry.v2 ? "" : join(entry.controllers, ","), cat(entry.root, "/", entry.path)});
  }
  return known;
}

// The first process of a container of tare; 0 where there is no such container.
pid_t own_container(const Session& session, const std::string& id) {
  const std::vector<std::string> ids = store::ids(session.context.root);
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) return 0;
  const auto init = store::Slot::open(session.context.root, id, false).read_init();
  if (!init || !init->alive()) throw Error(ErrorKind::conflict, cat("container ", quoted(id), " is not running"));
  return init->pid;
}

// The process that its engine wrote down, if it is the container's still.
pid_t noted_process(nsview::Names& names, std::string_view word) {
  const nsview::ContainerKey key{"", std::string(word), {}, false};
  const pid_t pid = names.first_process(key);
  if (pid <= 0) return 0;
  nsview::Reader reader;
  const sys::DirFd folder = nsview::open_folder(nsview::open_proc(), pid);
  std::string_view text;
  if (!folder || reader.file(folder, "cgroup", text) != nsview::Got::ok) return 0;
  const auto found = nsview::container_of(text, {});
  return found && found->id == word ? pid : 0;
}

}  // namespace

std::vector<nsview::Known> known_containers(const Session& session) {
  std::vector<nsview::Known> known;
  std::vector<std::string> ids;
  try {
    ids = store::ids(session.context.root);
  } catch (const Error&) {
    return known;  // another user's: then they are processes like others
  }
  for (const std::string& id : ids) {
    try {
      const auto slot = store::Slot::open(session.context.root, id, false);
      const auto record = slot.read_record();
      if (record) known.push_back(known_of(id, record->cgroups));
    } catch (const Error&) {
      // Deleted meanwhile, or damaged: `list` tells of it.
    }
  }
  return known;
}

bool means(std::string_view word, const nsview::ContainerKey& key, std::string_view name) {
  if (word == key.id || (!name.empty() && word == name)) return true;
  return key.engine != "tare" && word.size() >= kLeastOfAnId && key.id.starts_with(word);
}

pid_t process_meant(const Session& session, std::string_view word) {
  if (const auto pid = parse_number<pid_t>(word)) {
    if (*pid <= 0) throw Error(ErrorKind::usage, cat(quoted(word), " is no process"));
    return *pid;
  }
  if (word.empty() || word == "." || word == ".." || word.find('/') == 0)
    throw Error(ErrorKind::usage, cat(quoted(word), " is neither a process nor a container"));
  if (const pid_t pid = own_container(session, std::string(word)); pid != 0) return pid;
  nsview::Names names;
  if (const pid_t pid = word.size() == 64 ? noted_process(names, word) : 0; pid != 0) return pid;

  const nsview::Snapshot snapshot = nsview::take({.cgroup = true});
  const nsview::ContainerKey* meant = nullptr;
  for (const nsview::ContainerKey& key : snapshot.containers) {
    if (!means(word, key, names.of(key))) continue;
    if (meant != nullptr) {
      throw Error(ErrorKind::conflict, cat(quoted(word), " may mean ", meant->id, " or ", key.id));
    }
    meant = &key;
  }
  const nsview::Process* first = nullptr;
  for (const nsview::Process& process : snapshot.processes) {
    if (meant == nullptr || snapshot.container_of(process) != meant || process.state == 'Z') continue;
    if (first == nullptr || process.start < first->start) first = &process;
  }
  if (first == nullptr) {
    Error error(ErrorKind::not_found, cat("no container ", quoted(word)));
    throw error.hint(snapshot.hidden.empty()
                         ? "\"tare ps\" lists the processes of all containers that are seen"
                         : cat("/proc is mounted with ", snapshot.hidden, ": others' processes are not seen"));
  }
  return first->pid;
}

std::string Table::text(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.head));
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  std::string out;
  std::string line;
  const auto put = [&](const auto& cell) {
    line.clear();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& text = cell(c);
      const std::size_t blanks = widths[c] - width_of(text);
      if (c > 0) line += ' ';
      if (columns_[c].right) line.append(blanks, ' ');
      line += text;
      if (!columns_[c].right && c + 1 < columns_.size()) line.append(blanks, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    out += width > 0 ? cut(line, width) : std::string_view(line);
    out += '\n';
  };
  put([&](std::size_t c) -> const std::string& { return columns_[c].head; });
  for (const auto& row : rows_) put([&](std::size_t c) -> const std::string& { return row[c]; });
  return out;
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string short_name(const nsview::ContainerKey* key, const std::string& name) {
  if (key == nullptr) return "-";
  return nsview::visible(name.empty() ? key->id.substr(0, kShortId) : name);
}

void write_container(json::Writer& writer, const nsview::ContainerKey* key, const std::string& name) {
  writer.key("container");
  if (key == nullptr) {
    writer.null();
    return;
  }
  writer.begin_object().key("engine").string(key->engine).key("id").raw(nsview::json_string(key->id));
  writer.key("name");
  if (name.empty()) {
    writer.null();
  } else {
    writer.raw(nsview::json_string(name));
  }
  writer.end_object();
}

}  // namespace tare::cli
