// What the workloads make that outlives a killed process, and its removal.
//
// Most of what they make is gone with its last user: files without a name, memory, mappings. System V's
// queues and semaphores, and the folders of the path workloads, are not; they are called by the
// laboratory's pid (`owner`), so that whoever cleans up after it finds them. In an ipc namespace or on a
// file system of the place's own they go with that. Nothing here allocates, throws or follows a link.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tare::lab {

key_t ipc_key(std::int64_t owner) noexcept;

inline constexpr int kDeepest = 16;  // folders below each other that the path workloads make

// "/NAME" of what has a name for a moment; `out` holds 64 bytes.
void name_of(std::int64_t owner, char* out) noexcept;

// A file or folder tree of the path workloads in the open folder. A tree that isn't one of theirs is left alone.
void remove_tree(int folder, std::int64_t owner) noexcept;

// Everything that workers of that laboratory may have left in this process's ipc namespace, in /tmp and in
// `directory` (nullptr: none other).
void remove_left(std::int64_t owner, const char* directory) noexcept;

}  // namespace tare::lab
