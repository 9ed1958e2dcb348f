// Walking down cgroup directories by descriptor, where anything may vanish at any time.
//
// For: processes(), remove(). What is gone is an invalid descriptor or nothing, not an error.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cgroup/cgroup.hpp"
#include "sys/fd.hpp"

namespace tare::cgroup {

sys::DirFd try_open_dir(const std::string& path);
sys::DirFd try_open_dir_at(const sys::DirFd& dir, const std::string& name);
std::optional<std::string> try_read_at(const sys::DirFd& dir, const std::string& name);
// f(name) for each directory in dir.
void for_each_child(const sys::DirFd& dir, const std::function<void(const std::string&)>& f);

// The processes in one hierarchy's directory and below, unsorted.
std::vector<pid_t> processes_in(const Entry& entry);

}  // namespace tare::cgroup
