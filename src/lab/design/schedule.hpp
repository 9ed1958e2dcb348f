// Experiment -> the order in which everything happens. Pure: the same seed gives the same order.
#pragma once

#include <cstdint>

#include "lab/model/model.hpp"

namespace tare::lab {

// The order of one launch. Per launch and workload the places are put in a random order; rounds come
// in pairs, of which the second is the mirror image of the first, so that anything that drifts evenly
// over the two weighs on every place alike, and each place's neighbours change sides; from pair to
// pair the order is rotated, so that no place stays at the edges. Within a round the workloads stand
// in a random order, each with all its places together, so that the batches that are divided by each
// other are as close in time as can be. Before them the last of these places does a batch that is not
// counted, so that the first one too comes after the same work: spawn was 3 % faster right after
// other workloads than after itself.
LaunchSchedule schedule(const Experiment& experiment, int launch);

// What a run needs and can afford.
struct Budget {
  std::int64_t launch_ns = 0;  // one launch with all its rounds
  int launches = 0;            // that the time allows
  std::int64_t least_ns = 0;   // kLeastLaunches of them
};

// Below six launches no 95 % interval by signed ranks exists: 2 x 2^-5 is above 5 %.
inline constexpr int kLeastLaunches = 6;
// With --precision the first look at the widths; docs/METHOD.md says what stopping by width does.
inline constexpr int kFirstLook = 12;

// start_ns: starting and ending one place. batches longer than batch_ns (a slow command) are given
// by operation_ns, one for each workload (0: not known, the batch takes batch_ns).
Budget budget(const Experiment& experiment, std::int64_t start_ns, const std::vector<std::int64_t>& operation_ns);

// Operations in a batch, from the time that one takes: at least one.
std::int64_t batch_count(std::int64_t batch_ns, double operation_ns);

}  // namespace tare::lab
