// The parsers of the parts of config.json, one for each file of this room that is named parse_*.
// Private to this room.
#pragma once

#include "base/json.hpp"
#include "oci/parse.hpp"
#include "oci/spec.hpp"

namespace tare::oci {

Process process_from(const json::Field& object, Warnings& warnings);
Linux linux_from(const json::Field& object, Warnings& warnings);
Resources resources_from(const json::Field& object);
Seccomp seccomp_from(const json::Field& object);
IdMapping id_mapping_from(const json::Field& object);

}  // namespace tare::oci
