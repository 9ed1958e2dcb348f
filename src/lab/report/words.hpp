// The words and figures that all forms of the report share. Inside lab/report only.
#pragma once

#include <string>
#include <vector>

#include "lab/model/model.hpp"
#include "lab/stats/analysis.hpp"

namespace tare::lab {

std::string padded(std::string_view text, std::size_t width);
const Place& place_of(const Dataset& data, int place);
const Workload& workload_of(const Dataset& data, int workload);
std::string percent(double log_ratio, bool sign = false);

// "costs 3.1 % (1.4 to 4.8; by itself 2.4 to 3.8)", and what a reader must know of the cell with it.
std::string words(const Dataset& data, const Cell& cell);
// One or two words for a program: "costs", "no cost above the margin".
const char* word(Verdict verdict);
const char* word(Entry entry);  // "yes", "no", "not known"

// What the work is: its description, or the command as one would type it.
std::string command_text(const Workload& workload);
// The run in one line: version, seed, launches, kernel, CPU.
std::string head(const Dataset& data);
// A series of logs of nanoseconds in eight steps from its least to its most.
std::string sparkline(const std::vector<double>& series);
// How the machine was while it was measured; shares are of 1, NaN and below zero is not known.
struct Meanwhile {
  double load_low = 0, load_high = 0;
  std::int64_t processes_low = -1, processes_high = -1;
  double cpu_pressure = 0, memory_pressure = 0, io_pressure = 0;  // of the time some task waited for it
  double stolen = 0;                                              // of all CPU time
  double grace_ns = -1;                                           // the median grace period of RCU
};
Meanwhile meanwhile(const Dataset& data);
// The same in a sentence, and the workers' speculation controls in another; "" where the file has neither.
std::string meanwhile_text(const Dataset& data);
std::string speculation_text(const Dataset& data);
// Log units: the margin that was stated before the run.
double stated_margin(const Experiment& experiment);

}  // namespace tare::lab
