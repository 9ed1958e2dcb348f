// Whether a workload enters the code that a place adds, by the evidence of traced runs. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "lab/model/model.hpp"

namespace tare::lab {

enum class Entry {
  yes,      // it was seen to
  no,       // looked for by a means that would have seen it, and not there
  unknown,  // nobody looked, or only by means that can't tell
};

Entry entered(const std::vector<Evidence>& evidence, int workload, std::string_view layer);

// The name that evidence goes by for a place: of its namespace, or of its layer; empty: of none in particular.
std::string_view layer_of(const Place& place);

}  // namespace tare::lab
