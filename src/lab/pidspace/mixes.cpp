// What the measurement of 2007 ran, as operations on pids: from system calls of the real thing, by a written mapping.
#include "lab/pidspace/model.hpp"

namespace tare::lab {

namespace {

// What a system call does to pids. A number is pid_nr_ns, a find is find_pid_ns, a step is find_ge_pid.
struct Meaning {
  const char* call;
  int allocate, number, find, step;
};
constexpr Meaning kMeanings[] = {
    {"fork", 1, 2, 0, 0},             // alloc_pid and four attaches; what the parent is told, what set_child_tid gets
    {"exit_group", 0, 1, 0, 0},       // si_pid; its detaches and free_pid are counted with the allocation
    {"wait4", 0, 1, 0, 0},            // what it returns
    {"execve", 0, 1, 0, 0},           // the number before it, for tracers
    {"set_tid_address", 0, 1, 0, 0},  // what it returns
    {"getpid", 0, 1, 0, 0},           //
    {"getppid", 0, 1, 0, 0},          //
    {"open /proc/PID", 0, 0, 0, 0},   // the folder's entry holds the pid since it was listed or looked up
    {"read /proc/PID/stat", 0, 5, 0, 0},   // pid, parent, process group, session, the terminal's group
    {"list /proc, an entry", 0, 1, 1, 1},  // the next number; its name; the entry's look-up
};

Mix mix(const char* name, const char* unit, std::vector<Call> calls) {
  Mix out{name, unit, std::move(calls)};
  for (const Call& call : out.calls) {
    for (const Meaning& m : kMeanings) {
      if (std::string_view(m.call) != call.name) continue;
      out.allocate += m.allocate * call.times;
      out.number += m.number * call.times;
      out.find += m.find * call.times;
      out.step += m.step * call.times;
    }
  }
  return out;
}

}  // namespace

const std::vector<Mix>& pidspace_mixes() {
  static const std::vector<Mix> mixes = {
      mix("spawn", "a process", {{"fork", 1}, {"exit_group", 1}, {"wait4", 1}}),
      mix("execl", "an exec", {{"execve", 1}, {"getpid", 1}, {"getppid", 1}, {"set_tid_address", 1}}),
      mix("shell", "a script",
          {{"fork", 6}, {"execve", 5}, {"exit_group", 6}, {"wait4", 6}, {"set_tid_address", 5}, {"open /proc/PID", 1}}),
      mix("ps", "a process shown", {{"open /proc/PID", 4}, {"read /proc/PID/stat", 2}, {"list /proc, an entry", 1}}),
  };
  return mixes;
}

std::vector<Scene> pidspace_scenes() {
  std::vector<Scene> out;
  for (const int level : {0, 1, 2, 3, 4, 8, 16, 32}) out.push_back({level, 500});
  for (const int live : {50, 5'000, 50'000, 1'000'000}) out.push_back({0, live}), out.push_back({1, live});
  out.push_back({8, 50});
  out.push_back({8, 5'000});
  return out;
}

const std::vector<std::string>& pidspace_designs() {
  static const std::vector<std::string> designs = {"none",     "flat",     "nested, loop",  "nested, hash",
                                                   "fixed, 4", "fixed, 5", "today's kernel"};
  return designs;
}

const std::vector<Operation>& pidspace_operations() {
  static const std::vector<Operation> operations = {
      {"alloc", "allocate and free a pid"},
      {"find", "a pid by its number in its namespace"},
      {"own", "a pid's number in its own namespace (pid_vnr)"},
      {"parent", "the number in the namespace above it (pid_nr_ns)"},
      {"root", "the number in the first namespace (pid_nr)"},
      {"step", "the next pid in order, for ps (find_ge_pid)"},
      {"find, cold", "find, after everything was pushed out of the caches"},
      {"own, cold", "own, likewise"},
      {"alloc, 2", "alloc, in two threads at once"},
      {"find, 2", "find, in two threads at once"},
      {"spawn", "the mix of a spawn"},
      {"execl", "the mix of an exec"},
      {"shell", "the mix of a shell script"},
      {"ps", "the mix of a process in ps"},
  };
  return operations;
}

}  // namespace tare::lab
