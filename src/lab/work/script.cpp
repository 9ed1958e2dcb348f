// What a shell does for a script, by tare-work itself, so that shell and commands are the same bytes in
// every place: a process (`tare-work script`) that forks and executes, one after the other and by pipes, the
// programs of UnixBench's script (sort >file <data, od | sort >file, grep | tee file | wc, rm), each of which
// is tare-work again (`tare-work step NAME`), works on its standard input and output, and is waited for.
// Files are in memory (memfd_create), so that nothing is left behind and no file system is weighed.
//
// One after the other, or eight at once. Its units: a script, and eight.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

constexpr int kMostAtOnce = 8;
constexpr std::size_t kLines = 64;
constexpr std::size_t kLine = 16;  // bytes, with the newline
constexpr std::size_t kText = kLines * kLine;

char name[] = "tare-work";
char word_script[] = "script";
char word_step[] = "step";
char* script_argv[] = {name, word_script, nullptr};
char* environment[] = {nullptr};

// Executes tare-work with these two streams; never returns. For forked and vforked children.
[[noreturn]] void become(char** argv, int in, int out) noexcept {
  if ((in != 0 && dup2(in, 0) < 0) || (out != 1 && dup2(out, 1) < 0)) _exit(125);
  syscall(SYS_execveat, kProgramFd, "", argv, environment, AT_EMPTY_PATH);
  _exit(127);
}

pid_t start_step(char* what, int in, int out) noexcept {
  const pid_t child = fork();
  if (child != 0) return child;
  char* argv[] = {name, word_step, what, nullptr};
  become(argv, in, out);
}

bool ended_well(pid_t child) noexcept {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int memory_file() noexcept { return memfd_create("tare-work", MFD_CLOEXEC); }

char text[2 * kText];

std::size_t read_text(int fd) noexcept {
  std::size_t size = 0;
  while (size < sizeof text) {
    const ssize_t n = read(fd, text + size, sizeof text - size);
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
  }
  return size;
}

bool write_text(int fd, const char* from, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t n = write(fd, from, size);
    if (n <= 0) return false;
    from += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Insertion sort of lines of equal length.
void sort_lines(std::size_t size) noexcept {
  char line[kLine];
  for (std::size_t i = kLine; i + kLine <= size; i += kLine) {
    memcpy(line, text + i, kLine);
    std::size_t at = i;
    for (; at > 0 && memcmp(text + at - kLine, line, kLine) > 0; at -= kLine) {
      memcpy(text + at, text + at - kLine, kLine);
    }
    memcpy(text + at, line, kLine);
  }
}

void put_data() noexcept {
  unsigned state = 1;
  for (std::size_t i = 0; i < kText; ++i) {
    state = state * 1103515245U + 12345U;
    text[i] = (i + 1) % kLine == 0 ? '\n' : static_cast<char>('a' + (state >> 16) % 26);
  }
}

// Status 0 where the output is complete. "check" gives 0 where its input is a sorted file of full size.
int step(const char* what) noexcept {
  const std::size_t size = read_text(0);
  if (strcmp(what, "cat") == 0) return write_text(1, text, size) ? 0 : 1;
  if (strcmp(what, "sort") == 0) {
    sort_lines(size);
    return write_text(1, text, size) ? 0 : 1;
  }
  if (strcmp(what, "grep") == 0) {  // lines with an e
    for (std::size_t i = 0; i + kLine <= size; i += kLine) {
      if (memchr(text + i, 'e', kLine) != nullptr && !write_text(1, text + i, kLine)) return 1;
    }
    return 0;
  }
  if (strcmp(what, "wc") == 0) return size > 0 && size % kLine == 0 && size < kText ? 0 : 1;
  if (strcmp(what, "check") == 0) {
    for (std::size_t i = kLine; i < size; i += kLine) {
      if (memcmp(text + i - kLine, text + i, kLine) > 0) return 2;
    }
    return size == kText ? 0 : 3;
  }
  return 4;
}

char word_cat[] = "cat", word_sort[] = "sort", word_grep[] = "grep", word_wc[] = "wc", word_check[] = "check";

// The first and the second by a pipe, from one file into another.
bool piped(char* first, char* second, int in, int out) noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t a = start_step(first, in, ends[1]);
  const pid_t b = start_step(second, ends[0], out);
  close(ends[0]);
  close(ends[1]);
  const bool good = ended_well(a);
  return ended_well(b) && good;
}

int script() noexcept {
  const End data(memory_file()), sorted(memory_file());
  if (!data || !sorted) return 1;
  put_data();
  if (!write_text(data.get(), text, kText) || lseek(data.get(), 0, SEEK_SET) != 0) return 2;
  // cat data | sort >sorted
  if (!piped(word_cat, word_sort, data.get(), sorted.get()) || lseek(sorted.get(), 0, SEEK_SET) != 0) return 3;
  // check <sorted
  if (!ended_well(start_step(word_check, sorted.get(), 1)) || lseek(sorted.get(), 0, SEEK_SET) != 0) return 4;
  // grep <sorted | wc
  return piped(word_grep, word_wc, sorted.get(), 1) ? 0 : 5;
}

// In a function of its own: what vfork's child shares with it is not touched by the loop below.
pid_t start_script() noexcept {
  const pid_t child = vfork();
  if (child == 0) {
    syscall(SYS_execveat, kProgramFd, "", script_argv, environment, AT_EMPTY_PATH);
    _exit(127);
  }
  return child;
}

Fault scripts(const Batch& batch, RunResult& result, int at_once) noexcept {
  return measure(batch, result, 1, [at_once]() noexcept -> Fault {
    pid_t children[kMostAtOnce];
    int started = 0;
    Fault fault;
    for (; started < at_once; ++started) {
      const pid_t child = start_script();
      if (child < 0) {
        fault = {"vfork", errno};
        break;
      }
      children[started] = child;
    }
    for (int i = 0; i < started; ++i) {
      int status = 0;
      if (waitpid(children[i], &status, 0) != children[i]) keep_first(fault, {"waitpid", errno});
      if (status != 0) keep_first(fault, {"script", 0, status});
    }
    return fault;
  });
}

}  // namespace

Fault run_script1(const Batch& batch, RunResult& result) noexcept { return scripts(batch, result, 1); }
Fault run_script8(const Batch& batch, RunResult& result) noexcept { return scripts(batch, result, kMostAtOnce); }

int script_main(int argc, char** argv) noexcept {
  if (argc == 2 && strcmp(argv[1], word_script) == 0) return script();
  if (argc == 3 && strcmp(argv[1], word_step) == 0) return step(argv[2]);
  return -1;
}

}  // namespace tare::lab
