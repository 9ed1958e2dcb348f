#include "nsview/namespaces.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "nsview/parse.hpp"

namespace tare::nsview {
namespace {

constexpr std::size_t kMembers = 4;  // processes through which a namespace may be opened

// A namespace's file by a path that somebody else made: never opened before it is known to be one.
sys::Fd open_namespace(sys::Fd handle) {
  struct statfs fs{};
  if (!handle || ::fstatfs(handle.get(), &fs) != 0 || fs.f_type != NSFS_MAGIC) return {};
  return sys::Fd(::open(cat("/proc/self/fd/", handle.get()).c_str(), O_RDONLY | O_CLOEXEC));
}

class Finder {
 public:
  Finder(const Snapshot& snapshot, Namespaces& found) : snapshot_(snapshot), found_(found), proc_(open_proc()) {}

  void run(bool descriptors) {
    count();
    find_mounts();
    if (descriptors) find_descriptors();
    // What is found on the way up is appended, and asked in its turn.
    for (std::size_t i = 0; i < found_.all.size(); ++i) ask(i);
  }

 private:
  Namespace& get(Kind kind, std::uint64_t inode) {
    const auto [at, fresh] = found_.by_inode.try_emplace(inode, found_.all.size());
    if (fresh) {
      Namespace& made = found_.all.emplace_back();
      made.kind = kind;
      made.inode = inode;
      members_.emplace_back();
      kept_.emplace_back();
    }
    return found_.all[at->second];
  }

  void count() {
    for (const Process& process : snapshot_.processes)
      for (std::size_t i = 0; i < kKinds; ++i) {
        if (process.namespaces[i] == 0) continue;
        Namespace& ns = get(static_cast<Kind>(i), process.namespaces[i]);
        ++ns.processes;
        if (ns.first == 0) ns.first = process.pid;
        add_member(ns, process.pid);
      }
    for (const Thread& thread : snapshot_.threads) {
      const Process* process = snapshot_.find(thread.pid);
      for (std::size_t i = 0; i < kKinds; ++i) {
        const std::uint64_t inode = thread.namespaces[i];
        if (inode == 0 || (process != nullptr && process->namespaces[i] == inode)) continue;
        Namespace& ns = get(static_cast<Kind>(i), inode);
        ++ns.threads;
        add_member(ns, thread.tid);
      }
    }
  }

  void add_member(const Namespace& ns, pid_t number) {
    auto& members = members_[found_.by_inode.at(ns.inode)];
    if (members.size() < kMembers) members.push_back(number);
  }

  // The folder of a process or thread, if it still is in that mount namespace.
  sys::DirFd folder_of(pid_t number) { return open_folder(proc_, number); }

  void find_mounts() {
    // get() may move the namespaces about.
    std::vector<std::pair<std::uint64_t, std::vector<pid_t>>> places;
    for (std::size_t i = 0; i < found_.all.size(); ++i)
      if (found_.all[i].kind == Kind::mnt) places.emplace_back(found_.all[i].inode, members_[i]);
    std::string text;
    for (const auto& [mnt, members] : places)
      for (const pid_t member : members) {
        const sys::DirFd folder = folder_of(member);
        if (!folder || reader_.long_file(folder, "mountinfo", text) != Got::ok) continue;
        for (NamespaceMount& mount : namespace_mounts(text)) {
          Namespace& ns = get(mount.name.kind, mount.name.inode);
          ns.mounts.push_back({mnt, member, std::move(mount.point)});
        }
        break;
      }
  }

  void find_descriptors() {
    std::vector<pid_t> numbers;
    for (const Process& process : snapshot_.processes) {
      if (process.of_kernel || process.closed) continue;
      const sys::DirFd folder = folder_of(process.pid);
      if (!folder) continue;
      const sys::DirFd table = open_folder(folder, "fd");
      if (!table || reader_.numbers(table, numbers) != Got::ok) continue;
      for (const pid_t number : numbers) {
        std::string_view text;
        if (reader_.link(table, cat(number).c_str(), text) != Got::ok) continue;
        // A file may be called like that; its path then begins with a slash.
        if (const auto name = parse_namespace(text)) {
          get(name->kind, name->inode).descriptors.push_back({process.pid, number});
        }
      }
    }
  }

  void ask(std::size_t i) {
    const sys::Fd ns = open(i);
    if (!ns) return;
    const Kind kind = found_.all[i].kind;
    found_.all[i].known_owner = true;
    if (kind == Kind::user) {
      uid_t uid = 0;
      if (::ioctl(ns.get(), NS_GET_OWNER_UID, &uid) == 0) found_.all[i].owner_uid = uid;
    }
    if (kind == Kind::user || kind == Kind::pid) {
      const std::uint64_t parent = add(kind, parent_of(ns));
      found_.all[i].parent = parent;
    }
    const std::uint64_t owner = kind == Kind::user ? found_.all[i].parent : add(Kind::user, owner_of(ns));
    found_.all[i].owner = owner;
  }

  std::uint64_t add(Kind kind, sys::Fd ns) {
    const std::uint64_t inode = ns ? inode_of(ns) : 0;
    if (inode == 0) return 0;
    const bool fresh = !found_.by_inode.contains(inode);
    get(kind, inode);
    if (fresh) kept_[found_.by_inode.at(inode)] = std::move(ns);
    return inode;
  }

  sys::Fd open(std::size_t i) {
    if (kept_[i]) return std::move(kept_[i]);
    const Namespace& ns = found_.all[i];
    const char* link = kKindInfo[index_of(ns.kind)].link;
    for (const pid_t member : members_[i]) {
      const sys::DirFd folder = folder_of(member);
      if (!folder) continue;
      sys::Fd fd(::openat(folder.get(), link, O_RDONLY | O_CLOEXEC));
      if (fd && inode_of(fd) == ns.inode) return fd;
    }
    for (const Namespace::Mount& mount : ns.mounts) {
      sys::Fd fd = open_mount(mount);
      if (fd && inode_of(fd) == ns.inode) return fd;
    }
    for (const Namespace::Descriptor& descriptor : ns.descriptors) {
      const sys::DirFd folder = folder_of(descriptor.pid);
      if (!folder) continue;
      sys::Fd fd =
          open_namespace(sys::Fd(::openat(folder.get(), cat("fd/", descriptor.number).c_str(), O_PATH | O_CLOEXEC)));
      if (fd && inode_of(fd) == ns.inode) return fd;
    }
    return {};
  }

  // The path is another's, and a file system of its own making may be on the way: only what the kernel has in its cache
  // is gone through, so nobody is asked and nobody can make this wait. A mount point always is in the cache.
  sys::Fd open_mount(const Namespace::Mount& mount) {
    const sys::DirFd folder = folder_of(mount.through);
    if (!folder) return {};
    const sys::DirFd root(::openat(folder.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) return {};
    open_how how{};
    how.flags = static_cast<unsigned>(O_PATH | O_CLOEXEC);
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_CACHED;
    for (int attempt = 0; attempt < 4; ++attempt) {
      sys::Fd handle(static_cast<int>(::syscall(SYS_openat2, root.get(), mount.point.c_str(), &how, sizeof how)));
      if (handle) return open_namespace(std::move(handle));
    }
    return {};
  }

  const Snapshot& snapshot_;
  Namespaces& found_;
  sys::DirFd proc_;
  Reader reader_;
  std::vector<std::vector<pid_t>> members_;  // as found_.all
  std::vector<sys::Fd> kept_;                // likewise: of those that the kernel told of
};

}  // namespace

std::uint64_t inode_of(const sys::Fd& ns) {
  struct statfs fs{};
  struct stat st{};
  if (::fstatfs(ns.get(), &fs) != 0 || fs.f_type != NSFS_MAGIC || ::fstat(ns.get(), &st) != 0) return 0;
  return st.st_ino;
}

sys::Fd parent_of(const sys::Fd& ns) { return sys::Fd(::ioctl(ns.get(), NS_GET_PARENT)); }
sys::Fd owner_of(const sys::Fd& ns) { return sys::Fd(::ioctl(ns.get(), NS_GET_USERNS)); }

const Namespace* Namespaces::find(std::uint64_t inode) const {
  const auto at = by_inode.find(inode);
  return at == by_inode.end() ? nullptr : &all[at->second];
}

std::size_t Namespaces::depth(const Namespace& ns) const {
  std::size_t depth = 0;
  for (const Namespace* up = find(ns.parent); up != nullptr && depth < all.size(); up = find(up->parent)) ++depth;
  return depth;
}

Namespaces namespaces(const Snapshot& snapshot, bool descriptors) {
  Namespaces found;
  Finder(snapshot, found).run(descriptors);
  std::sort(found.all.begin(), found.all.end(), [](const Namespace& a, const Namespace& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.inode < b.inode;
  });
  for (std::size_t i = 0; i < found.all.size(); ++i) found.by_inode[found.all[i].inode] = i;
  return found;
}

}  // namespace tare::nsview
