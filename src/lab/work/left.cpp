#include "lab/work/left.hpp"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "lab/work/folder.hpp"

namespace tare::lab {

key_t ipc_key(std::int64_t owner) noexcept {
  // A pid has 22 bits at most; the rest says that it is ours, and is not IPC_PRIVATE.
  return static_cast<key_t>(0x7A000000 | (owner & 0x3FFFFF));
}

void name_of(std::int64_t owner, char* out) noexcept {
  constexpr char kBegin[] = "/tare-work.";
  memcpy(out, kBegin, sizeof kBegin - 1);
  *std::to_chars(out + sizeof kBegin - 1, out + 60, owner).ptr = '\0';
}

void remove_tree(int folder, std::int64_t owner) noexcept {
  char name[64];
  name_of(owner, name);
  const char* step = name + 1;
  // Down as far as there are folders, then up again, removing.
  End open_folders[kDeepest + 1];
  int at = folder, depth = 0;
  for (; depth <= kDeepest; ++depth) {
    struct stat st;
    End next(openat(at, step, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next || fstat(next.get(), &st) != 0 || st.st_uid != geteuid()) break;
    open_folders[depth] = static_cast<End&&>(next);
    at = open_folders[depth].get();
    step = kFolder;
  }
  while (depth-- > 0) {
    unlinkat(open_folders[depth].get(), kFile, 0);
    unlinkat(open_folders[depth].get(), kNewFile, 0);
    open_folders[depth].reset();
    unlinkat(depth == 0 ? folder : open_folders[depth - 1].get(), depth == 0 ? name + 1 : kFolder, AT_REMOVEDIR);
  }
}

void remove_left(std::int64_t owner, const char* directory) noexcept {
  const key_t key = ipc_key(owner);
  if (const int id = msgget(key, 0); id >= 0) msgctl(id, IPC_RMID, nullptr);
  if (const int id = semget(key, 0, 0); id >= 0) semctl(id, 0, IPC_RMID);
  if (const int id = shmget(key, 0, 0); id >= 0) shmctl(id, IPC_RMID, nullptr);
  char name[64];
  name_of(owner, name);
  mq_unlink(name);
  shm_unlink(name);
  for (const char* const where : {"/tmp", directory}) {
    if (where == nullptr) continue;
    const End folder(open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder) remove_tree(folder.get(), owner);
  }
}

}  // namespace tare::lab
