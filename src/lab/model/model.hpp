// What the laboratory's rooms hand to each other, as plain data: what is to be measured
// (Experiment), in which order (LaunchSchedule), and what was seen (Sample, Dataset).
//
// Units: nanoseconds, counts, natural logarithms of ratios. Nothing here touches the kernel.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tare::lab {

inline constexpr int kSchema = 2;  // of the sample file and the report; raised when a field changes its meaning

enum class Role {
  reference,  // bare: what all others are divided by
  control,    // A/A: bare again, which must cost nothing
  subject,    // what is asked about
};

enum class PlaceKind {
  bare,        // nothing but the launch itself
  namespaces,  // exactly the namespaces named
  layer,       // exactly one other thing: a filter, a mount, a limit, an interface (Place::layer)
  container,   // the default container, whole
  nested,      // the namespaces named, `amount` levels of them
  siblings,    // the default container beside `amount` others that are idle or busy (Place::layer)
  foreign,     // the default container as another program launches it (Place::layer)
};

struct Place {
  std::string name;
  Role role = Role::subject;
  PlaceKind kind = PlaceKind::bare;
  std::vector<std::string> namespaces{};  // "pid", "mnt", "uts", "ipc", "net", "user", "cgroup", "time"
  std::int64_t delay = 0;                 // hundredths of a percent that the worker slows itself by
  std::string layer{};                    // "seccomp", "overlay", "crun" ...; empty where `kind` says it all
  std::int64_t amount = 0;                // of the layer: rules, levels, siblings; 0 where there is nothing to count
  std::string
      axis{};  // "pid depth": places of one axis lie on a line over `amount`, whose slope is fitted; empty: none
  std::string against{};  // the place that it is compared to; empty: the reference
  int forks = 0;          // by which the launch differs from that of the others, which is one
  bool bill = false;      // an item of the bill: its costs are added up and held against the container's
  bool operator==(const Place&) const = default;
};

struct Workload {
  std::string name;                    // as tare-work knows it
  std::string describes{};             // "fork, exit, wait"
  std::vector<std::string> command{};  // of the workload "command"
  std::int64_t count = 0;              // operations in a batch, equal in all places; 0: to be calibrated
  std::int64_t warm_up = 0;            // operations that a fresh worker does before any counts; 0: to be found
  std::string unit = "operation";      // what is counted: "fork", "byte"
  std::vector<std::string> enters{};   // namespaces and layers whose code it can enter, by the names of places
  std::vector<std::string> setup{};    // shell commands of the user's: before a launch's first batch of it,
  std::vector<std::string> prepare{};  // before each batch,
  std::vector<std::string> cleanup{};  // and at the end of a launch
  bool per_second = false;             // a batch lasts batch_ns, and what counts is how much got done in it
  bool operator==(const Workload&) const = default;
};

struct Experiment {
  std::uint64_t seed = 0;
  std::vector<Place> places;
  std::vector<Workload> workloads;
  int rounds = 4;                      // of each launch; even
  std::int64_t batch_ns = 10'000'000;  // what a batch is calibrated to
  std::int64_t time_ns = 60'000'000'000;
  double precision = 0;         // half-width in log units at which it may stop before its time; 0: none
  double margin = 0;            // log units: what is smaller counts as no cost; 0: the default, 2 %
  bool bill = false;            // the report is an itemised bill
  int cpu = -1;                 // that the workers are pinned to
  std::string directory = "/";  // of the workers
  bool operator==(const Experiment&) const = default;
};

struct Slot {
  int round = 0;
  int workload = 0;     // index into Experiment::workloads
  int place = 0;        // index into Experiment::places
  bool counted = true;  // false: a lead-in, whose time is not written down
  bool operator==(const Slot&) const = default;
};

// One launch: all places are started once, in `start_order`, then work slot by slot.
struct LaunchSchedule {
  std::vector<int> start_order;
  std::vector<Slot> slots;
};

struct Sample {
  int launch = 0;
  int round = 0;
  int slot = 0;  // position in the launch
  int place = 0;
  int workload = 0;
  std::int64_t count = 0;
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;  // of the worker and the children it waited for
  std::int64_t faults = 0;
  std::int64_t voluntary = 0;
  std::int64_t involuntary = 0;
  std::int64_t at_ns = 0;           // end of the batch, since the start of the run
  std::int64_t cgroup_cpu_ns = -1;  // of all processes in the place's cgroup; -1, here and below: not known
  std::int64_t peak_bytes = -1;     // the most memory that the place's cgroup has held up to then
  std::int64_t instructions = -1;   // in user and kernel mode, by the worker and its children
  std::int64_t cycles = -1;
  bool operator==(const Sample&) const = default;
};

// A place that fell out, or a workload that a place can't do.
struct Absence {
  int place = 0;
  int workload = -1;  // -1: the whole place
  std::string reason;
  bool operator==(const Absence&) const = default;
};

// How often a second a workload enters a layer's code, from a traced run that was never timed.
struct Evidence {
  int workload = 0;
  std::string layer;        // a place's name: "pid", "seccomp"
  std::string kind;         // "system calls", "tracepoints", "call chains"
  double rate = 0;          // a second
  bool conclusive = false;  // true: a rate of 0 means that it does not enter; false: this kind can't tell
  std::string what;         // the functions, events or calls that were seen, or looked for in vain
  bool operator==(const Evidence&) const = default;
};

// How the machine was before a launch (one more after the last): what makes intervals wide, or biased.
struct Conditions {
  int launch = 0;
  double load = 0;                    // runnable and blocked tasks, mean of the last minute
  std::int64_t processes = -1;        // live pids that the laboratory sees; -1, here and below: not known
  std::int64_t cpu_pressure_us = -1;  // time since boot in which some task waited for it (PSI, "some total")
  std::int64_t memory_pressure_us = -1;
  std::int64_t io_pressure_us = -1;
  std::int64_t grace_ns = -1;     // that one RCU grace period took: what freeing a namespace or a mount waits for
  std::int64_t stolen_ticks = 0;  // by the hypervisor, and of all CPUs in all, since boot
  std::int64_t all_ticks = 0;
  std::int64_t at_ns = 0;  // since the start of the run
  bool operator==(const Conditions&) const = default;
};

// The kernel's speculation controls of a place's worker, in its words (proc_pid_status(5)): a filter may turn them on.
struct Speculation {
  int place = 0;
  std::string store_bypass;
  std::string indirect_branch;
  bool operator==(const Speculation&) const = default;
};

struct Dataset {
  Experiment experiment;
  std::string machine = "{}";  // the machine's description, JSON
  std::string version;         // of tare-weigh
  std::vector<Sample> samples;
  std::vector<Absence> absences;
  std::vector<Evidence> evidence;
  std::vector<Conditions> conditions;
  std::vector<Speculation> speculation;
  std::vector<std::string> warnings;  // what a reader of the figures must know of this run
  int launches = 0;                   // that came to their end; samples of others don't count
  std::string ended;                  // "time", "precision", "interrupted", "" (cut off)
};

// The places and workloads that tare knows by name; throw usage for a name that it doesn't.
std::vector<Place> default_places();
// A name may also be that of a group: default, namespaces, layers, pid-depth, user-depth, siblings, foreign, all. What
// a place is compared to comes in before it.
std::vector<Place> named_places(const std::vector<std::string>& names);
// What `tare weigh --bill` weighs: the parts of the default container, each by itself, and the container.
std::vector<Place> bill_places();
std::vector<Workload> default_workloads();
std::vector<Workload> named_workloads(const std::vector<std::string>& names);
// "PLACE=5%": slows the place of that name, or adds a bare place of that name which is slowed.
void inject(std::vector<Place>& places, std::string_view what);

void to_json(nlohmann::json& out, const Experiment& experiment);
void from_json(const nlohmann::json& in, Experiment& experiment);

}  // namespace tare::lab
