// The namespaces of this machine: who is in them, who owns them, what holds them.
//
// Found from the processes of a snapshot, from the mounts of every mount namespace (a namespace file that is mounted
// somewhere), from descriptors where asked for, and upwards: a parent or owner in which nobody is left is there, too.
// Not found: what only a socket holds, or a descriptor in a message on its way. Kernels have no list before listns(2).
// Sources: namespaces(7), ioctl_nsfs(2).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "nsview/snapshot.hpp"

namespace tare::nsview {

struct Namespace {
  Kind kind{};
  std::uint64_t inode = 0;
  std::uint64_t parent = 0;     // of user and pid namespaces; 0: none, or out of this process's reach
  std::uint64_t owner = 0;      // the user namespace that owns it; of a user namespace: its parent
  std::uint32_t owner_uid = 0;  // of a user namespace: who made it
  bool known_owner = false;     // false: the kernel could not be asked
  std::size_t processes = 0, threads = 0;
  pid_t first = 0;  // the lowest process in it; 0: none
  struct Mount {
    std::uint64_t mnt = 0;  // in which mount namespace
    pid_t through = 0;      // a process there
    std::string point;
  };
  std::vector<Mount> mounts;
  struct Descriptor {
    pid_t pid = 0;
    int number = 0;
  };
  std::vector<Descriptor> descriptors;
};

struct Namespaces {
  std::vector<Namespace> all;  // by kind, then by inode
  std::unordered_map<std::uint64_t, std::size_t> by_inode;

  const Namespace* find(std::uint64_t inode) const;
  // Parents above it that can be seen: 0 for the outermost.
  std::size_t depth(const Namespace& ns) const;
};

Namespaces namespaces(const Snapshot& snapshot, bool descriptors);

// The inode number behind a descriptor of a namespace; 0 for anything else.
std::uint64_t inode_of(const sys::Fd& ns);
// A namespace's parent (of user and pid namespaces) or owner; invalid where there is none within reach.
sys::Fd parent_of(const sys::Fd& ns);
sys::Fd owner_of(const sys::Fd& ns);

}  // namespace tare::nsview
