// The itemised bill: what each layer adds by itself, their sum, what the whole container costs, and what the sum
// leaves unexplained. Nanoseconds of an operation. Pure.
//
// All is computed launch by launch, so that what the items of a launch have in common counts, and then estimated over
// launches as everything else (interval.hpp). A cost is the reference's time in that launch x (e^d - 1), with d
// the launch's log-ratio; an item that is compared to another place than bare (Place::against) is what it adds to that
// one.
#pragma once

#include <vector>

#include "lab/model/model.hpp"
#include "lab/stats/interval.hpp"

namespace tare::lab {

struct BillItem {
  int place = 0;
  Estimate ns;
};

struct Bill {
  int workload = 0;
  double bare_ns = 0;  // median, what percentages are of
  std::vector<BillItem> items;
  std::vector<int> missing;  // places that couldn't do this work: not in the sum
  Estimate sum, whole, unexplained;
};

// One for each workload; none where the experiment has no items or no container.
std::vector<Bill> make_bills(const Dataset& data);

}  // namespace tare::lab
