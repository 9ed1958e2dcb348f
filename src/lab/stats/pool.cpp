#include "lab/stats/pool.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/stats/grid.hpp"

namespace tare::lab {

namespace {

std::string text_at(const nlohmann::json& machine, const char* key) {
  const auto found = machine.find(key);
  if (found == machine.end()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string model(const nlohmann::json& machine) {
  const auto cpu = machine.find("cpu");
  return cpu == machine.end() ? std::string() : text_at(*cpu, "model");
}

// What must be alike for figures to belong together.
std::string identity(const Dataset& data) {
  const nlohmann::json machine = nlohmann::json::parse(data.machine);
  std::string out = cat(data.version, "\n", model(machine));
  for (const char* key : {"kernel", "kernel_build", "command_line", "mitigations"})
    out += cat("\n", text_at(machine, key));
  return out;
}

std::string name_of(const Dataset& data) {
  const nlohmann::json machine = nlohmann::json::parse(data.machine);
  return cat("Linux ", text_at(machine, "kernel"), " on ", model(machine), ", tare ", data.version);
}

bool same_experiment(const Experiment& a, const Experiment& b) {
  const auto names = [](const Experiment& e) {
    std::string out;
    for (const Place& p : e.places) out += cat(p.name, "\n");
    for (const Workload& w : e.workloads) out += cat(w.name, "\n", join(w.command, "\n"), "\n");
    return out;
  };
  return a.rounds == b.rounds && a.directory == b.directory && names(a) == names(b);
}

void append(Dataset& to, Dataset&& from) {
  const std::int64_t spent = to.samples.empty() ? 0 : to.samples.back().at_ns;
  for (Sample& s : from.samples) {
    s.launch += to.launches;
    s.at_ns += spent;
    to.samples.push_back(s);
  }
  for (Absence& absence : from.absences) {
    if (absence_of(to, absence.place, absence.workload) == nullptr) to.absences.push_back(std::move(absence));
  }
  for (std::string& warning : from.warnings) {
    if (std::find(to.warnings.begin(), to.warnings.end(), warning) == to.warnings.end())
      to.warnings.push_back(std::move(warning));
  }
  if (to.evidence.empty()) to.evidence = std::move(from.evidence);
  to.launches += from.launches;
}

std::vector<double> log_times(const Dataset& data, int workload, int place) {
  const Grid grid(data, workload, false);
  std::vector<double> out;
  for (int launch = 0; launch < data.launches; ++launch) {
    std::vector<double> rounds;
    for (int round = 0; round < grid.rounds(); ++round) {
      const double value = grid.value(place, launch, round);
      if (!std::isnan(value)) rounds.push_back(value);
    }
    if (!rounds.empty()) out.push_back(median_of(std::move(rounds)));
  }
  return out;
}

template <class T>
int index_of(const std::vector<T>& all, const std::string& name) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

std::vector<Group> group(std::vector<Dataset> files) {
  std::vector<Group> groups;
  std::vector<std::string> identities;
  for (Dataset& file : files) {
    std::erase_if(file.samples, [&](const Sample& s) { return s.launch >= file.launches; });  // cut off
    const std::string who = identity(file);
    const auto found = std::find(identities.begin(), identities.end(), who);
    if (found == identities.end()) {
      identities.push_back(who);
      groups.push_back({name_of(file), std::move(file), {}});
      continue;
    }
    Group& same = groups[static_cast<std::size_t>(found - identities.begin())];
    if (!same_experiment(same.data.experiment, file.experiment)) {
      throw Error(ErrorKind::usage, cat("two files of ", same.name, " weigh different things"))
          .hint("analyse them one by one");
    }
    // Launches that count twice would make the intervals narrower than the truth.
    if (!file.samples.empty() && std::find(same.data.samples.begin(), same.data.samples.end(), file.samples.front()) !=
                                     same.data.samples.end()) {
      throw Error(ErrorKind::usage, "the same samples were given twice");
    }
    append(same.data, std::move(file));
  }
  for (Group& one : groups) one.analysis = analyse(one.data);
  // Kernels of one version that differ in their build or command line.
  std::vector<std::string> names;
  for (const Group& one : groups) names.push_back(one.name);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (std::count(names.begin(), names.end(), names[i]) > 1) groups[i].name += cat(" (", i + 1, ")");
  }
  return groups;
}

std::vector<Across> compare_across(const std::vector<Group>& groups) {
  std::vector<Across> out;
  if (groups.size() < 2) return out;
  const Experiment& first = groups[0].data.experiment;
  for (std::size_t w = 0; w < first.workloads.size(); ++w) {
    for (std::size_t p = 0; p < first.places.size(); ++p) {
      if (first.places[p].role == Role::control) continue;
      Across one{static_cast<int>(w), first.places[p].name, {}};
      const std::vector<double> base = log_times(groups[0].data, static_cast<int>(w), static_cast<int>(p));
      for (std::size_t g = 1; g < groups.size(); ++g) {
        const Experiment& other = groups[g].data.experiment;
        const int workload = index_of(other.workloads, first.workloads[w].name);
        const int place = index_of(other.places, first.places[p].name);
        one.shifts.push_back(workload < 0 || place < 0 ? Estimate{}
                                                       : rank_sum(base, log_times(groups[g].data, workload, place)));
      }
      out.push_back(std::move(one));
    }
  }
  return out;
}

}  // namespace tare::lab
