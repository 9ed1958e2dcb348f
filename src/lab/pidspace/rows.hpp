// Inside lab/pidspace only.
#pragma once

#include "lab/pidspace/model.hpp"

namespace tare::lab {

// Counted by the instrumented form of the same code, of a lone pid at that level; bytes 0: the design can't.
struct Row {
  int bytes = 0, root = 0, own = 0, any = 0, find = 0;
};
Row pidspace_row(std::size_t design, int level);

}  // namespace tare::lab
