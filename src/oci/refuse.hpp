// How the rules of validate say no. Private to this room.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "oci/spec.hpp"
#include "oci/validate.hpp"

namespace tare::oci {

[[noreturn]] inline void refuse(std::string_view field, std::string_view text) {
  throw Error(ErrorKind::invalid_spec, cat(field, ": ", text));
}

// Well formed, but nothing in tare does it yet. To start a container without what was asked for would
// be worse than to refuse it.
[[noreturn]] inline void unbuilt(std::string_view field) {
  throw Error(ErrorKind::unsupported, cat(field, ": not supported yet"));
}

// The name of a list's element, made only when it is wrong.
inline std::string element(std::string_view list, std::size_t index, std::string_view member = {}) {
  return cat(list, "[", index, "]", member.empty() ? "" : ".", member);
}

// "0-3,7", as cpuset(7) describes it; "" is none.
bool is_number_list(std::string_view text);

// The parts of validate, one for each file named validate_*.
void validate_mounts(const Spec& spec, Warnings& warnings);
void validate_linux(const Spec& spec);
void validate_mappings(const std::vector<IdMapping>& mappings, std::string_view field);

}  // namespace tare::oci
