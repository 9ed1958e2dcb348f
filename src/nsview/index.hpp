// Processes by their number in any pid namespace, and back.
//
// For: many translations, and kernels without calls for it (before 6.11). One process is translated quicker by
// translate.hpp. Built from a snapshot in one pass; a thread is no entry of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <unordered_map>

#include "nsview/namespaces.hpp"

namespace tare::nsview {

class Index {
 public:
  // parents: of pid namespaces, by inode; 0 for those above which nothing is seen.
  using Parents = std::unordered_map<std::uint64_t, std::uint64_t>;
  Index(const Snapshot& snapshot, const Parents& parents);

  // The process that has this number in the namespace; nullptr where there is none.
  const Process* find(std::uint64_t ns, pid_t number) const;
  // Its number there; 0 where that namespace does not see it.
  pid_t number(const Process& process, std::uint64_t ns) const;

 private:
  struct Key {
    std::uint64_t ns;
    pid_t number;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>((key.ns * 0x9E3779B97F4A7C15U) ^
                                      (static_cast<std::uint64_t>(key.number) * 0xC2B2AE3D27D4EB4FU));
    }
  };
  std::uint64_t parent(std::uint64_t ns) const;
  Parents parents_;
  std::unordered_map<Key, const Process*, Hash> processes_;
};

Index::Parents pid_parents(const Namespaces& namespaces);

}  // namespace tare::nsview
