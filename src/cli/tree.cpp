// tree: the namespaces of this machine, below their owners and parents.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/view.hpp"
#include "nsview/namespaces.hpp"
#include "nsview/text.hpp"

namespace tare::cli {
namespace {

using nsview::Kind;
using nsview::Namespace;
using nsview::Namespaces;
using nsview::Process;
using nsview::Snapshot;

constexpr Option kOptions[] = {
    {Opt::format, 'f', "format", "FORMAT", "table (default) or json"},
    {Opt::descriptors, 0, "descriptors", nullptr, "look for namespaces in every process's descriptors, too"},
};

// At the bottom of a chain of namespaces lines would have no room left.
constexpr std::size_t kDeepest = 40;
// Of what holds a namespace; JSON has all.
constexpr std::size_t kMostShown = 4;

// The container of a namespace: that of all its processes, if it is one.
class Containers {
 public:
  explicit Containers(const Snapshot& snapshot) {
    nsview::Names lookup;
    for (const nsview::ContainerKey& key : snapshot.containers) names_.push_back(lookup.of(key));
    for (const Process& p : snapshot.processes) {
      const nsview::ContainerKey* key = snapshot.container_of(p);
      for (const std::uint64_t inode : p.namespaces) {
        if (inode == 0) continue;
        const auto [at, fresh] = of_.try_emplace(inode, key);
        if (!fresh && at->second != key) at->second = nullptr;
      }
    }
    first_ = snapshot.containers.data();
  }
  const nsview::ContainerKey* of(const Namespace& ns) const {
    const auto at = of_.find(ns.inode);
    return at == of_.end() ? nullptr : at->second;
  }
  std::string name(const nsview::ContainerKey* key) const {
    return key == nullptr ? "" : names_[static_cast<std::size_t>(key - first_)];
  }

 private:
  std::unordered_map<std::uint64_t, const nsview::ContainerKey*> of_;
  std::vector<std::string> names_;
  const nsview::ContainerKey* first_ = nullptr;
};

// What holds it beside its processes: "threads", "/run/netns/blue", "12:fd7", or nothing but what is below it.
std::string held_text(const Namespace& ns) {
  std::string out;
  const auto add = [&](const std::string& what) { out += out.empty() ? what : cat(" ", what); };
  const auto add_some = [&](const auto& holders, const auto& text) {
    for (std::size_t i = 0; i < std::min(holders.size(), kMostShown); ++i) add(text(holders[i]));
    if (holders.size() > kMostShown) add(cat("+", holders.size() - kMostShown));
  };
  if (ns.threads > 0 && ns.processes == 0) add("threads");
  add_some(ns.mounts, [](const Namespace::Mount& m) { return nsview::visible(m.point); });
  add_some(ns.descriptors, [](const Namespace::Descriptor& d) { return cat(d.pid, ":fd", d.number); });
  if (ns.processes == 0 && out.empty()) add("those below");
  return out;
}

std::string command_of(const Snapshot& snapshot, const Namespace& ns) {
  const Process* p = snapshot.find(ns.first);
  return p == nullptr ? "" : nsview::visible(p->name);
}

// Namespaces in the order of the tree, with their depths. Under a user namespace stand those that it owns, a pid
// namespace under its parent where the same user namespace owns both, and then the user namespaces below it.
struct Line {
  const Namespace* ns;
  std::size_t depth;
};

class Tree {
 public:
  explicit Tree(const Namespaces& all) : all_(all) {
    for (const Namespace& ns : all.all) below_[above(ns)].push_back(&ns);
    for (auto& [inode, children] : below_) {
      std::stable_sort(children.begin(), children.end(), [](const Namespace* a, const Namespace* b) {
        return (a->kind == Kind::user ? 1 : 0) < (b->kind == Kind::user ? 1 : 0);
      });
    }
    add(0, 0);
    // What is above itself can't be; but the kernel's answers were given one after the other.
    for (const Namespace& ns : all.all)
      if (!seen_.contains(ns.inode)) put(ns, 0);
  }
  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::uint64_t above(const Namespace& ns) const {
    const Namespace* parent = ns.kind == Kind::pid ? all_.find(ns.parent) : nullptr;
    const std::uint64_t inode = parent != nullptr && parent->owner == ns.owner ? parent->inode : ns.owner;
    return all_.find(inode) == nullptr ? 0 : inode;
  }
  void put(const Namespace& ns, std::size_t depth) {
    if (!seen_.try_emplace(ns.inode, true).second) return;
    lines_.push_back({&ns, depth});
    add(ns.inode, depth + 1);
  }
  // As deep as namespaces nest: 32 levels of each kind.
  void add(std::uint64_t inode, std::size_t depth) {
    const auto at = below_.find(inode);
    if (at == below_.end()) return;
    for (const Namespace* ns : at->second) put(*ns, depth);
  }

  const Namespaces& all_;
  std::unordered_map<std::uint64_t, std::vector<const Namespace*>> below_;
  std::unordered_map<std::uint64_t, bool> seen_;
  std::vector<Line> lines_;
};

std::string table_of(const Snapshot& snapshot, const Namespaces& all, const Containers& containers) {
  Table table(
      {{"NAMESPACE"}, {"DEPTH", true}, {"PROCESSES", true}, {"PID", true}, {"CONTAINER"}, {"COMMAND"}, {"HELD BY"}});
  const Tree tree(all);
  for (const Line& line : tree.lines()) {
    const Namespace& ns = *line.ns;
    const nsview::ContainerKey* key = containers.of(ns);
    const bool nests = ns.kind == Kind::user || ns.kind == Kind::pid;
    std::string label =
        cat(std::string(std::min(line.depth, kDeepest) * 2, ' '), nsview::name_of(ns.kind), " ", ns.inode);
    if (ns.kind == Kind::user && ns.known_owner) label += cat(" of ", ns.owner_uid);
    if (!ns.known_owner) label += " (closed)";
    table.add({label, nests ? cat(all.depth(ns)) : "-", cat(ns.processes), ns.first == 0 ? "-" : cat(ns.first),
               short_name(key, containers.name(key)), command_of(snapshot, ns), held_text(ns)});
  }
  return table.text(terminal_width());
}

void write_inode(json::Writer& writer, const char* key, std::uint64_t inode) {
  writer.key(key);
  if (inode == 0) {
    writer.null();
  } else {
    writer.number(inode);
  }
}

std::string json_of(const Snapshot& snapshot, const Namespaces& all, const Containers& containers) {
  json::Writer writer;
  writer.begin_array();
  const Tree tree(all);
  for (const Line& line : tree.lines()) {
    const Namespace& ns = *line.ns;
    writer.begin_object().key("kind").string(nsview::name_of(ns.kind)).key("inode").number(ns.inode);
    write_inode(writer, "parent", ns.parent);
    write_inode(writer, "owner", ns.owner);
    writer.key("ownerUid");
    if (ns.kind == Kind::user && ns.known_owner) {
      writer.number(ns.owner_uid);
    } else {
      writer.null();
    }
    writer.key("depth").number(std::uint64_t{all.depth(ns)});
    writer.key("processes").number(std::uint64_t{ns.processes}).key("threads").number(std::uint64_t{ns.threads});
    write_inode(writer, "pid", static_cast<std::uint64_t>(ns.first));
    const nsview::ContainerKey* key = containers.of(ns);
    write_container(writer, key, containers.name(key));
    const Process* first = snapshot.find(ns.first);
    writer.key("command");
    if (first == nullptr) {
      writer.null();
    } else {
      writer.raw(nsview::json_string(first->name));
    }
    writer.key("mounts").begin_array();
    for (const Namespace::Mount& mount : ns.mounts) {
      writer.begin_object().key("mnt").number(mount.mnt).key("path").raw(nsview::json_string(mount.point)).end_object();
    }
    writer.end_array().key("descriptors").begin_array();
    for (const Namespace::Descriptor& d : ns.descriptors) {
      writer.begin_object().key("pid").number(d.pid).key("number").number(d.number).end_object();
    }
    writer.end_array().end_object();
  }
  writer.end_array();
  return cat(writer.take(), "\n");
}

}  // namespace

constexpr Command kTree = {"tree",
                           "",
                           "the namespaces of this machine, below those that own them",
                           "Also those that nobody is in and that a mount, with --descriptors a descriptor, or only a\n"
                           "namespace below holds. DEPTH counts the parents of user and pid namespaces. What only a\n"
                           "socket holds is not found.",
                           kOptions,
                           Order::anywhere,
                           0,
                           0};

int do_tree(const Session& session, const Parsed& parsed) {
  const bool as_json = wants_json(parsed);
  const Snapshot snapshot =
      nsview::take({.namespaces = true, .cgroup = true, .threads = true}, known_containers(session));
  const Namespaces all = nsview::namespaces(snapshot, parsed.on(Opt::descriptors));
  const Containers containers(snapshot);
  if (!snapshot.hidden.empty()) {
    session.reporter.warning(
        cat("/proc is mounted with ", snapshot.hidden, ": what is hidden may hold more namespaces"));
  }
  print(as_json ? json_of(snapshot, all, containers) : table_of(snapshot, all, containers));
  return 0;
}

}  // namespace tare::cli
