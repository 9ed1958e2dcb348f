#include "cgroup/apply.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/convert.hpp"
#include "cgroup/devices.hpp"

namespace tare::cgroup {
namespace {

// The place of a controller's files; `field` is what asks for it.
const Entry& need(const Location& location, std::string_view controller, std::string_view field) {
  const Entry* entry = location.find(controller);
  if (entry == nullptr)
    throw Error(ErrorKind::unsupported, cat(field, ": there is no ", controller, " cgroup that tare may use"));
  // One message for "not mounted" and "not enabled", before the first file is missing.
  if (entry->v2 && controller != "devices" && !exists(cat(entry->directory(), '/', "cgroup.controllers")))
    throw Error(ErrorKind::not_found, cat(field, ": cgroup ", quoted(entry->directory()), " is gone"));
  return *entry;
}

// May this process load a device filter, and would one keep anything from its children? In a user
// namespace, and without root, nobody can make device nodes, and others are reached only by bind mounts.
bool has_power_over_devices() {
  constexpr ino_t kInitialUserns = 4026531837;
  struct stat st{};
  return ::geteuid() == 0 && (::stat("/proc/self/ns/user", &st) != 0 || st.st_ino == kInitialUserns);
}

void apply_devices(const Location& location, const oci::Resources& resources, bool update) {
  if (update && resources.devices.empty()) return;
  const std::vector<DeviceMatch> rules = device_rules(resources.devices);
  const Entry* entry = location.find("devices");
  if (entry == nullptr) {
    if (resources.devices.empty() || !has_power_over_devices()) return;
    throw Error(ErrorKind::unsupported, "linux.resources.devices: there is no cgroup that tare may use");
  }
  if (!entry->v2) return apply_devices_v1(*entry, rules, update);
  try {
    apply_devices_v2(*entry, rules);
  } catch (Error& error) {
    if (error.errno_value() == EPERM && !has_power_over_devices()) return;
    error.in_front("linux.resources.devices");
    throw;
  }
}

bool is_page_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && text[0] != '0' && text.size() == digits + 2 &&
         std::string_view("KMG").find(text[digits]) != std::string_view::npos && text[digits + 1] == 'B';
}

}  // namespace

void Fields::refuse(std::string_view name, std::string_view why) const {
  throw Error(ErrorKind::unsupported, cat(field(name), ": ", why));
}

void Fields::invalid(std::string_view name, std::string_view why) const {
  throw Error(ErrorKind::invalid_spec, cat(field(name), ": ", why));
}

void apply_pids(const Entry& entry, std::int64_t limit) {
  // 0 means that nothing may be forked. cgroup2 gets 1, which says the same to a cgroup that holds the
  // container's first process, and lets clone3(CLONE_INTO_CGROUP) put it there.
  const std::string value = limit == 0 && entry.v2 ? "1" : limit_text(limit);
  Fields("linux.resources.pids.", entry).write("limit", "pids.max", value);
}

void apply_cpuset(const Entry& entry, const oci::CpuResources& cpu) {
  const Fields fields("linux.resources.cpu.", entry);
  if (!cpu.cpus.empty()) fields.write("cpus", "cpuset.cpus", cpu.cpus);
  if (!cpu.mems.empty()) fields.write("mems", "cpuset.mems", cpu.mems);
}

void apply_hugepages(const Entry& entry, const std::vector<oci::HugepageLimit>& limits) {
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const Fields fields(cat("linux.resources.hugepageLimits[", i, "]."), entry);
    if (!is_page_size(limits[i].page_size)) fields.invalid("pageSize", cat(quoted(limits[i].page_size), " is no size"));
    const std::string stem = cat("hugetlb.", limits[i].page_size);
    const char* last = entry.v2 ? ".max" : ".limit_in_bytes";
    const std::string value = cat(limits[i].limit);
    // Reserved pages are counted apart since Linux 5.7; without it a reservation dodges the limit.
    const std::string reserved = cat(stem, ".rsvd", last);
    if (fields.has_file(reserved)) fields.write("limit", reserved, value);
    fields.write("limit", cat(stem, last), value);
  }
}

void apply_rdma(const Entry& entry, const std::map<std::string, oci::RdmaLimit>& limits) {
  for (const auto& [device, limit] : limits) {
    std::string value = device;
    if (limit.hca_handles) value += cat(" hca_handle=", *limit.hca_handles);
    if (limit.hca_objects) value += cat(" hca_object=", *limit.hca_objects);
    Fields("linux.resources.rdma.", entry).write(device, "rdma.max", value);
  }
}

void apply(const Location& location, const oci::Resources& r, bool update) {
  if (!r.unified.empty() && location.v2() == nullptr)
    throw Error(ErrorKind::unsupported, "linux.resources.unified: there is no cgroup2 here");
  apply_devices(location, r, update);
  if (r.memory) {
    const Entry& entry = need(location, "memory", "linux.resources.memory");
    entry.v2 ? apply_memory_v2(entry, *r.memory, update) : apply_memory_v1(entry, *r.memory, update);
  }
  if (r.cpu) {
    if (!r.cpu->cpus.empty() || !r.cpu->mems.empty())
      apply_cpuset(need(location, "cpuset", "linux.resources.cpu.cpus"), *r.cpu);
    const Entry& entry = need(location, "cpu", "linux.resources.cpu");
    entry.v2 ? apply_cpu_v2(entry, *r.cpu) : apply_cpu_v1(entry, *r.cpu);
  }
  if (r.pids_limit) apply_pids(need(location, "pids", "linux.resources.pids.limit"), *r.pids_limit);
  if (r.block_io) {
    const Entry* v1 = location.find("blkio");
    const Entry& entry = need(location, v1 != nullptr && !v1->v2 ? "blkio" : "io", "linux.resources.blockIO");
    entry.v2 ? apply_block_io_v2(entry, *r.block_io) : apply_block_io_v1(entry, *r.block_io);
  }
  if (!r.hugepage_limits.empty())
    apply_hugepages(need(location, "hugetlb", "linux.resources.hugepageLimits"), r.hugepage_limits);
  if (r.network) apply_network_v1(location, *r.network);
  if (!r.rdma.empty()) apply_rdma(need(location, "rdma", "linux.resources.rdma"), r.rdma);
  // Last: what is written verbatim has the last word.
  if (!r.unified.empty()) apply_unified(location, r);
}

}  // namespace tare::cgroup
