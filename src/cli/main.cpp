#include <malloc.h>

#include "cli/commands.hpp"

int main(int argc, char** argv) {
  // A start takes some 200 KiB of heap and ends soon: it grows once, and nothing is given back in between.
  mallopt(M_TOP_PAD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  return tare::cli::main_of(argc, argv);
}
