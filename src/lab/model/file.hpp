// The sample file: JSON lines, appended to as samples are taken.
//
// The first line, "record":"run", says the schema, the version, the experiment with its seed, and
// the machine. Then "record":"worker" (who the workers were, one line a place), "sample", "absence", "evidence",
// "conditions", "warning", "launch_end" and "continued" lines; "end" is last in a run that wasn't cut off.
// docs/METHOD.md lists the fields. A cut-off last line is passed over; anything else that can't be read throws
// invalid_spec with its line.
#pragma once

#include <string>
#include <string_view>

#include "lab/model/model.hpp"

namespace tare::lab {

std::string run_line(const Dataset& dataset, std::string_view started);
std::string sample_line(const Experiment& experiment, const Sample& sample);
std::string absence_line(const Experiment& experiment, const Absence& absence);
std::string evidence_line(const Experiment& experiment, const Evidence& seen);
std::string conditions_line(const Conditions& seen);
std::string warning_line(std::string_view text);
std::string launch_end_line(int launch);
// A run is gone on with from that launch: what was taken of it, and of later ones, doesn't count.
std::string continued_line(int launch, std::string_view started);
std::string end_line(std::string_view how);

// The whole text of one sample file.
Dataset parse_samples(std::string_view text);

}  // namespace tare::lab
