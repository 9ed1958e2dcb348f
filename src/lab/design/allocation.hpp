// Where a run's time goes: how long a worker warms up, and which workloads a launch leaves out. Pure.
//
// Both look at times and at the widths of intervals, never at what the places cost: whoever decides by the
// estimates how long he measures finds what he looks for. docs/METHOD.md, "The design".
#pragma once

#include <vector>

namespace tare::lab {

// How many of the first batches of a fresh worker are not steady yet: those before the first three in a row that
// lie within three robust standard deviations (1.4826 x the median absolute deviation) of the later half's median.
// All of the first half where there are none such.
int warm_up_batches(const std::vector<double>& times);

// Gives each workload the share of the launches that its variance asks for: the interval of the one with the widest
// is worked at in every launch, that of another in (width / widest)^2 of them, as equal widths at the end
// want it, but in one of two at least: a family of many cells needs many launches for an interval at all.
class Allocation {
 public:
  explicit Allocation(std::size_t workloads) : credit_(workloads, 0.0) {}
  // widths: half-width by workload, log units; NaN where there is none yet: then that one takes part.
  std::vector<bool> next(const std::vector<double>& widths);

 private:
  std::vector<double> credit_;
};

}  // namespace tare::lab
