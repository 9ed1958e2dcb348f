// What shows that a piece of work enters a layer's code: which system calls lead there, which tracepoints lie in it,
// which kernel functions are it. A table, with the kernel's sources named.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tare::lab {

struct Layer {
  std::vector<const char*> names;  // of the places it is about
  // Any of these calls enters it, whatever its arguments are. "*": every system call does.
  std::vector<const char*> calls;
  // These may, by what they are called with. Where none of both is made, the work does not enter the layer; where the
  // kernel enters it by itself, too (charging of memory, the scheduler, softirqs), `by_itself` is true and nobody can
  // say so.
  std::vector<const char*> perhaps;
  bool by_itself = false;
  std::vector<const char*> tracepoints;  // "group/event"
  bool tracepoints_tell = false;         // true: it can't be entered without one of them
  std::vector<const char*> functions;    // looked for in call chains
};

// A system call's number, -1 where this architecture has none of that name; and back, as far as the table goes.
long call_number(std::string_view name);
std::string call_name(long number);

// Null for a name that the table doesn't have.
const Layer* find_layer(std::string_view name);

}  // namespace tare::lab
