#include "nsview/index.hpp"

namespace tare::nsview {

Index::Index(const Snapshot& snapshot, const Parents& parents) : parents_(parents) {
  processes_.reserve(snapshot.processes.size() * 2);
  for (const Process& process : snapshot.processes) {
    std::uint64_t ns = process.namespaces[index_of(Kind::pid)];
    // The innermost number is that of its own namespace, and so on outwards.
    for (auto number = process.numbers.rbegin(); number != process.numbers.rend() && ns != 0; ++number) {
      processes_.try_emplace({ns, *number}, &process);
      ns = parent(ns);
    }
  }
}

std::uint64_t Index::parent(std::uint64_t ns) const {
  const auto at = parents_.find(ns);
  return at == parents_.end() ? 0 : at->second;
}

const Process* Index::find(std::uint64_t ns, pid_t number) const {
  const auto at = processes_.find({ns, number});
  return at == processes_.end() ? nullptr : at->second;
}

pid_t Index::number(const Process& process, std::uint64_t ns) const {
  std::uint64_t own = process.namespaces[index_of(Kind::pid)];
  for (auto number = process.numbers.rbegin(); number != process.numbers.rend() && own != 0; ++number) {
    if (own == ns) return *number;
    own = parent(own);
  }
  return 0;
}

Index::Parents pid_parents(const Namespaces& namespaces) {
  Index::Parents parents;
  for (const Namespace& ns : namespaces.all)
    if (ns.kind == Kind::pid) parents[ns.inode] = ns.parent;
  return parents;
}

}  // namespace tare::nsview
