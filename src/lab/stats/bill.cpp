#include "lab/stats/bill.hpp"

#include <cmath>

#include "lab/stats/grid.hpp"

namespace tare::lab {

namespace {

// By launch what a place adds to an operation, ns; NaN where unknown.
std::vector<double> costs(const Dataset& data, const Grid& grid, int place) {
  const std::vector<int> by = divisors(data.experiment, place);
  std::vector<double> out;
  for (int launch = 0; launch < data.launches; ++launch) {
    std::vector<double> base;
    for (int round = 0; round < grid.rounds(); ++round) {
      const double value = reference_value(grid, by, launch, round);
      if (!std::isnan(value)) base.push_back(value);
    }
    const double d = median_of(round_values(grid, by, place, launch));
    out.push_back(std::exp(median_of(std::move(base))) * std::expm1(d));
  }
  return out;
}

}  // namespace

std::vector<Bill> make_bills(const Dataset& data) {
  std::vector<int> items;
  int whole = -1;
  for (std::size_t i = 0; i < data.experiment.places.size(); ++i) {
    const Place& place = data.experiment.places[i];
    if (place.kind == PlaceKind::container && place.role == Role::subject) whole = static_cast<int>(i);
    if (place.bill && place.kind != PlaceKind::container) items.push_back(static_cast<int>(i));
  }
  std::vector<Bill> out;
  if (whole < 0 || items.empty()) return out;
  for (std::size_t w = 0; w < data.experiment.workloads.size(); ++w) {
    const int workload = static_cast<int>(w);
    if (absence_of(data, whole, workload) != nullptr) continue;
    const Grid grid(data, workload, false);
    Bill bill;
    bill.workload = workload;
    std::vector<double> bare;
    for (int launch = 0; launch < data.launches; ++launch) {
      for (int round = 0; round < grid.rounds(); ++round) {
        bare.push_back(reference_value(grid, places_with(data.experiment, Role::reference), launch, round));
      }
    }
    bill.bare_ns = std::exp(median_of(present(bare)));
    const std::vector<double> all = costs(data, grid, whole);
    std::vector<double> sum(all.size(), 0.0), rest;
    for (const int item : items) {
      if (absence_of(data, item, workload) != nullptr) {
        bill.missing.push_back(item);
        continue;
      }
      const std::vector<double> ns = costs(data, grid, item);
      for (std::size_t i = 0; i < ns.size(); ++i) sum[i] += ns[i];
      bill.items.push_back({item, signed_rank(present(ns))});
    }
    for (std::size_t i = 0; i < all.size(); ++i) rest.push_back(all[i] - sum[i]);
    bill.sum = signed_rank(present(sum));
    bill.whole = signed_rank(present(all));
    bill.unexplained = signed_rank(present(rest));
    out.push_back(std::move(bill));
  }
  return out;
}

}  // namespace tare::lab
