// child: the working directory and the program.
#include <unistd.h>

#include "isolate/calls.hpp"

namespace tare::isolate {
namespace {

// As execvp(3): a regular file that this process may execute.
long runnable(const char* path) noexcept {
  struct stat st{};
  long r = call(SYS_newfstatat, AT_FDCWD, word(path), word(&st), 0);
  if (r < 0) return r;
  if (S_ISDIR(st.st_mode)) return -EISDIR;
  if (!S_ISREG(st.st_mode)) return -EACCES;
  r = call(SYS_faccessat2, AT_FDCWD, word(path), X_OK, AT_EACCESS);
  if (r == -EPERM || r == -ENOSYS) r = call(SYS_faccessat, AT_FDCWD, word(path), X_OK);
  return r;
}

bool has_slash(const char* s) noexcept {
  for (; *s != '\0'; ++s)
    if (*s == '/') return true;
  return false;
}

Fault search(const char* name, const char* list, State& state) noexcept {
  long worst = -ENOENT;
  while (true) {
    std::size_t size = 0;
    while (list[size] != '\0' && list[size] != ':') ++size;
    Buffer<sizeof state.program> candidate;
    if (size == 0)
      candidate.add("./");  // execvp(3): an empty entry is the working directory
    else
      candidate.add(list, size).add("/");
    candidate.add(name);
    if (!candidate.full) {
      const long r = runnable(candidate.text);
      if (r >= 0) {
        copy(state.program, candidate.text, candidate.used + 1);
        return kNoFault;
      }
      if (r == -EACCES) worst = r;
    }
    if (list[size] == '\0') break;
    list += size + 1;
  }
  return fault(worst == -EACCES ? "access" : "PATH", worst);
}

}  // namespace

Fault find_program(const plan::ProgramOp& op, State& state) noexcept {
  if (op.fd >= 0) return kNoFault;
  const char* name = op.argv[0];
  if (name[0] == '\0') return {"PATH", ENOENT};
  if (!has_slash(name)) return search(name, op.path_list, state);
  const std::size_t size = length(name);
  if (size >= sizeof state.program) return {"exec", ENAMETOOLONG};
  copy(state.program, name, size + 1);
  const long r = runnable(name);
  return r < 0 ? fault(r == -ENOENT || r == -ENOTDIR ? "stat" : "access", r) : kNoFault;
}

Fault make_cwd(const plan::TextOp& op, State& state) noexcept {
  // In exec the container's root is the process's own already.
  const bool inside = state.root < 0;
  const long root = inside ? call(SYS_openat, AT_FDCWD, word("/"), O_PATH | O_DIRECTORY | O_CLOEXEC, 0) : state.root;
  if (root < 0) return fault("open", root);
  const long folder = reach(static_cast<int>(root), op.a, Make::folder);
  if (inside) done_with(root);
  if (folder >= 0) done_with(folder);
  // What only the user may enter, root may find closed (a network file system): entering it decides.
  if (folder < 0 && folder != -EACCES && folder != -ELOOP) return fault("openat2", folder);
  if (folder == -ELOOP) note(state, "it leads through a link of /proc, which could leave the container");
  return folder == -ELOOP ? fault("openat2", folder) : kNoFault;
}

Fault enter_cwd(const plan::TextOp& op, State& state) noexcept {
  const bool first = op.b[0] == 'r';
  const long r = call(SYS_chdir, word(op.a));
  if (r < 0) return first && r == -EACCES ? kNoFault : fault("chdir", r);
  // CVE-2024-21626: a folder that can't be reached from "/" is not the container's.
  char path[4096];
  const long n = call(SYS_getcwd, word(path), sizeof path);
  if (n < 0) return fault("getcwd", n);
  if (path[0] == '/') return kNoFault;
  note(state, "it is outside the container");
  return {"", EXDEV};
}

}  // namespace tare::isolate
