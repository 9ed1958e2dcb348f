// The resources of config.json, one function a controller and version; apply() calls them in order.
//
// For: apply.cpp. Every function throws with the field in front ("linux.resources.memory.limit: ...").
// A number of 0 means "not given" where runc and crun take it so (limits, shares, quota, periods): the
// engines' update requests are full of zeros. That is said at each place.
#pragma once

#include <string>
#include <string_view>

#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {

// Writes "PREFIX.name" into DIRECTORY/file: Fields("linux.resources.cpu.", dir)("shares", "cpu.shares", "2").
class Fields {
 public:
  Fields(std::string_view prefix, const Entry& entry) : prefix_(prefix), directory_(entry.directory() + "/") {}

  void write(std::string_view name, std::string_view file, std::string_view value) const {
    if (const int why = try_write(path(file), value)) fail(name, file, value, why);
  }
  int try_to_write(std::string_view file, std::string_view value) const { return try_write(path(file), value); }
  [[noreturn]] void fail(std::string_view name, std::string_view file, std::string_view value, int why) const {
    throw_write(field(name), path(file), value, why);
  }
  // There is nothing on this layout that could hold the field.
  [[noreturn]] void refuse(std::string_view name, std::string_view why) const;
  [[noreturn]] void invalid(std::string_view name, std::string_view why) const;
  bool has_file(std::string_view file) const { return exists(path(file)); }
  std::string path(std::string_view file) const { return directory_ + std::string(file); }

 private:
  std::string field(std::string_view name) const { return prefix_ + std::string(name); }

  std::string prefix_;
  std::string directory_;
};

void apply_memory_v1(const Entry& entry, const oci::MemoryResources& memory, bool update);
void apply_cpu_v1(const Entry& entry, const oci::CpuResources& cpu);
void apply_block_io_v1(const Entry& entry, const oci::BlockIoResources& io);
void apply_network_v1(const Location& location, const oci::NetworkResources& network);

void apply_memory_v2(const Entry& entry, const oci::MemoryResources& memory, bool update);
void apply_cpu_v2(const Entry& entry, const oci::CpuResources& cpu);
void apply_block_io_v2(const Entry& entry, const oci::BlockIoResources& io);
void apply_unified(const Location& location, const oci::Resources& resources);

// What both versions write alike.
void apply_pids(const Entry& entry, std::int64_t limit);
void apply_cpuset(const Entry& entry, const oci::CpuResources& cpu);
void apply_hugepages(const Entry& entry, const std::vector<oci::HugepageLimit>& limits);
void apply_rdma(const Entry& entry, const std::map<std::string, oci::RdmaLimit>& limits);

}  // namespace tare::cgroup
