// What parent and child say to each other during a start.
//
//   parent                          child
//     | clone3 --------------------> |  outer and inner operations, one after the other
//     | <------------- maps_wanted - |  (user namespace: id maps can only be written from outside)
//     | - go ----------------------> |
//     | <------------ hooks_wanted - |  (prestart and createRuntime run in the runtime's namespaces)
//     | - go ----------------------> |
//     | <----------------- console - |  the terminal's master comes along
//     | <------------------- ready - |  everything is set up; the program has been found
//     | <--------------- end of file |  exec succeeded (the descriptor closes at exec)
// At any time: failed, with the operation and what went wrong, or end of file without `ready`: the
// child died, and its wait status says how.
//
// With `create` the child goes on to wait after `ready`: it reads one byte from the fifo `start` in the
// state folder, and holds the fifo `result` open until exec: `tare start` writes the byte, and reads
// `result` to its end: nothing means that the program runs, otherwise a Message says what failed.
// Only read(2), write(2) and execve(2) are used from there on, since a filter may be in force.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tare::launch {

enum class Kind : std::uint32_t { maps_wanted = 1, hooks_wanted, console, ready, failed, go };

struct Message {
  Kind kind;
  std::uint32_t op;    // index into plan.outer followed by plan.ops
  plan::Code code;     // of that operation, for a reader that has no plan
  std::int32_t error;  // errno
  char call[32];       // the system call that failed; may be empty
  char what[256];      // the program's or the hook's path, for a reader that has no plan
  char detail[512];    // more about the reason; may be empty
};

}  // namespace tare::launch
