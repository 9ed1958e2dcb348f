// Several sample files together. Pure.
//
// Files of the same experiment, made by the same version on the same machine under the same kernel, are one run that
// was made in pieces: their launches count alike. Files of other machines or kernels stand side by side; what
// is compared across them is not paired, since no two batches of theirs were ever a moment apart.
#pragma once

#include <string>
#include <vector>

#include "lab/model/model.hpp"
#include "lab/stats/analysis.hpp"

namespace tare::lab {

struct Group {
  std::string name;  // "Linux 6.18.44 on AMD EPYC"; with what tells it from the others
  Dataset data;
  Analysis analysis;
};

// In the order of the files. Throws usage where two files of one machine weigh different places or workloads.
std::vector<Group> group(std::vector<Dataset> files);

struct Across {
  int workload = 0;   // of the first group
  std::string place;  // "bare" for the reference
  // The time of an operation in the group against the first one, log units: Hodges and Lehmann's shift with the
  // interval of the rank-sum test, over launches. Not paired.
  std::vector<Estimate> shifts;  // by group, from the second on; n = 0 where it has no such cell
};

std::vector<Across> compare_across(const std::vector<Group>& groups);

}  // namespace tare::lab
