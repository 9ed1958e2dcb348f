// Where the file workloads work. Inside lab/work only.
#pragma once

#include "lab/work/left.hpp"
#include "lab/work/second.hpp"

namespace tare::lab {

inline constexpr const char* kFolder = "d";   // each of the folders below the first
inline constexpr const char* kFile = "f";     // that is there all the time
inline constexpr const char* kNewFile = "n";  // that is made and removed

// The folder for files: the working directory where the laboratory was given one (any but "/"), which is
// the same file system in every place then; /tmp as the place shows it otherwise.
const char* files_directory() noexcept;
std::int64_t files_file_system() noexcept;  // f_type of statfs(2), for hello

// A file without a name there: gone with its last descriptor.
Fault nameless(End& out) noexcept;

}  // namespace tare::lab
