// Which devices a container may use: the rules of config.json, and how v1 and cgroup2 take them.
//
// A container starts with nothing allowed; then the rules hold in their order, the last one that
// speaks of a device and an access deciding; then the devices that every container needs are allowed.
// Sources: runtime-spec config-linux.md (allowed device list), cgroup-v1/devices.rst, bpf(2).
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cgroup/cgroup.hpp"

namespace tare::cgroup {

inline constexpr std::uint32_t kAllAccess = BPF_DEVCG_ACC_MKNOD | BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE;
inline constexpr std::int64_t kAnyNumber = -1;

// A rule with every default filled in; of config.json, or of the list that always follows.
struct DeviceMatch {
  bool allow = false;
  char type = 'a';  // a, b or c
  std::int64_t major = kAnyNumber, minor = kAnyNumber;
  std::uint32_t access = kAllAccess;  // BPF_DEVCG_ACC_*
  int index = -1;                     // in linux.resources.devices; -1: of the default list
  bool operator==(const DeviceMatch&) const = default;
};

// config.json's rules, then the default list. Throws invalid_spec with the rule's index.
std::vector<DeviceMatch> device_rules(const std::vector<oci::DeviceRule>& rules);

// What v1 can hold: one answer for all devices, and exceptions of the other answer.
struct DeviceList {
  bool allow_all = false;
  std::vector<DeviceMatch> exceptions;
};

// Throws unsupported, with the rule's index, for rules that cut a hole into an earlier, wider one.
DeviceList device_list(const std::vector<DeviceMatch>& rules);
DeviceList parse_device_list(const std::string& text);  // devices.list
std::string device_text(const DeviceMatch& match);      // "c 1:3 rwm"

void apply_devices_v1(const Entry& entry, const std::vector<DeviceMatch>& rules, bool update);

// The rules as a program for BPF_PROG_TYPE_CGROUP_DEVICE, last rule first. It answers bit by bit of
// the access, so it needs no such restriction.
std::vector<bpf_insn> device_program(const std::vector<DeviceMatch>& rules);
// Attaches it to the cgroup; one that tare attached before is replaced in one step.
void apply_devices_v2(const Entry& entry, const std::vector<DeviceMatch>& rules);

}  // namespace tare::cgroup
