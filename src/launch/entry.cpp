// The first instructions of tare, before libc's: a verb that puts a process into a container executes
// the program again from a read-only mount of its file (self.hpp says why), and here that costs three
// system calls and a few pages instead of a whole start of libc. Where anything is in the way nothing
// is done: main does the same with care, has other ways, and tells what failed.
//
// No libc is up yet: no thread storage, no string functions (they are chosen by relocations that have
// not been made), raw calls only. Built without link-time optimisation; the linker's -e names the entry.
#include <elf.h>
#include <fcntl.h>
#include <sys/mount.h>

#include "sys/raw.hpp"

namespace {

using tare::sys::raw::call;
using tare::sys::raw::word;

// NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector has addresses as numbers
const char* text(unsigned long address) { return reinterpret_cast<const char*>(address); }

bool starts_with(const char* text, const char* start) {
  while (*start != '\0' && *text == *start) ++text, ++start;
  return *start == '\0';
}

bool is(const char* text, const char* other) {
  while (*text != '\0' && *text == *other) ++text, ++other;
  return *text == *other;
}

// A word that only happens to be a verb's name costs one execution more, and no harm.
bool puts_a_process_into_a_container(char** argv) {
  for (; *argv != nullptr; ++argv)
    if (is(*argv, "run") || is(*argv, "create") || is(*argv, "exec") || is(*argv, "box")) return true;
  return false;
}

// A caller may have closed stdin, stdout or stderr: a file of ours would take the place, and the
// container get it. /dev/null stands there instead. Gives the descriptor's new number.
long fill_standard_descriptors(long tree) {
  const long moved = call(SYS_fcntl, tree, F_DUPFD_CLOEXEC, 3);
  call(SYS_close, tree);
  long null = 0;
  while ((null = call(SYS_openat, AT_FDCWD, word("/dev/null"), O_RDWR, 0)) >= 0 && null < 3) {
  }
  if (null >= 3) call(SYS_close, null);
  return moved;
}

}  // namespace

extern "C" __attribute__((used, visibility("hidden"))) void tare_before_libc(long* stack) {
  const long argc = stack[0];
  char** argv = reinterpret_cast<char**>(stack + 1);
  char** envp = argv + argc + 1;
  if (argc < 2 || !puts_a_process_into_a_container(argv + 1)) return;
  char** end = envp;
  while (*end != nullptr) ++end;
  for (const auto* aux = reinterpret_cast<const Elf64_auxv_t*>(end + 1); aux->a_type != AT_NULL; ++aux)
    if (aux->a_type == AT_EXECFN && starts_with(text(aux->a_un.a_val), "/dev/fd/")) return;
  long tree = call(SYS_open_tree, AT_FDCWD, word("/proc/self/exe"), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) return;
  if (tree < 3) tree = fill_standard_descriptors(tree);
  const mount_attr attr{MOUNT_ATTR_RDONLY, 0, 0, 0};
  if (call(SYS_mount_setattr, tree, word(""), AT_EMPTY_PATH, word(&attr), sizeof attr) >= 0)
    call(SYS_execveat, tree, word(""), word(argv), word(envp), AT_EMPTY_PATH);
  call(SYS_close, tree);
}

#if defined(__x86_64__)
asm(R"(
  .globl tare_start
  .type tare_start, @function
tare_start:
  xor %ebp, %ebp
  mov %rsp, %rdi
  push %rdx
  push %rdx
  call tare_before_libc
  pop %rdx
  pop %rdx
  jmp _start
  .size tare_start, . - tare_start
)");
#elif defined(__aarch64__)
asm(R"(
  .globl tare_start
  .type tare_start, %function
tare_start:
  mov x29, xzr
  stp x0, x30, [sp, #-16]!
  add x0, sp, #16
  bl tare_before_libc
  ldp x0, x30, [sp], #16
  b _start
  .size tare_start, . - tare_start
)");
#endif
