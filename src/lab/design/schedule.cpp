#include "lab/design/schedule.hpp"

#include <algorithm>
#include <numeric>

#include "lab/design/random.hpp"

namespace tare::lab {

namespace {

std::vector<int> shuffled(std::size_t n, Random& random) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  return order;
}

}  // namespace

LaunchSchedule schedule(const Experiment& experiment, int launch) {
  Random random(experiment.seed, static_cast<std::uint64_t>(launch));
  LaunchSchedule out;
  const std::size_t places = experiment.places.size();
  out.start_order = shuffled(places, random);

  std::vector<std::vector<int>> orders;  // by workload
  for (std::size_t i = 0; i < experiment.workloads.size(); ++i) orders.push_back(shuffled(places, random));

  std::vector<int> workloads;
  for (int round = 0; round < experiment.rounds; ++round) {
    const bool mirrored = round % 2 == 1;
    if (mirrored) {
      std::reverse(workloads.begin(), workloads.end());
    } else {
      workloads = shuffled(experiment.workloads.size(), random);
    }
    for (const int workload : workloads) {
      std::vector<int>& order = orders[static_cast<std::size_t>(workload)];
      if (mirrored) {
        std::reverse(order.begin(), order.end());
      } else if (round > 0) {
        std::reverse(order.begin(), order.end());  // back to the pair's own direction
        // Rotated by a share of the circle that makes the pairs' starting points spread over it.
        const std::size_t pairs = std::max<std::size_t>(1, static_cast<std::size_t>(experiment.rounds) / 2);
        const std::size_t by = std::max<std::size_t>(1, places / pairs) % places;
        std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(by), order.end());
      }
      out.slots.push_back({round, workload, order.back(), false});
      for (const int place : order) out.slots.push_back({round, workload, place, true});
    }
  }
  return out;
}

std::int64_t batch_count(std::int64_t batch_ns, double operation_ns) {
  if (operation_ns <= 0) return 1;
  const double n = static_cast<double>(batch_ns) / operation_ns;
  return n < 1 ? 1 : static_cast<std::int64_t>(std::min(n, 1e12));
}

Budget budget(const Experiment& experiment, std::int64_t start_ns, const std::vector<std::int64_t>& operation_ns) {
  Budget out;
  const auto places = static_cast<std::int64_t>(experiment.places.size());
  std::int64_t work_ns = 0, lead_in_ns = 0;
  for (std::size_t i = 0; i < experiment.workloads.size(); ++i) {
    const std::int64_t one = i < operation_ns.size() ? operation_ns[i] : 0;
    work_ns += std::max(experiment.batch_ns, one) * experiment.rounds;
    lead_in_ns += std::max(experiment.batch_ns, one) * experiment.rounds;
    work_ns += std::max(experiment.batch_ns / 4, one);  // the warm-up
  }
  out.launch_ns = places * (start_ns + work_ns) + lead_in_ns;
  out.launches =
      static_cast<int>(std::min<std::int64_t>(experiment.time_ns / std::max<std::int64_t>(1, out.launch_ns), 100'000));
  out.least_ns = kLeastLaunches * out.launch_ns;
  return out;
}

}  // namespace tare::lab
