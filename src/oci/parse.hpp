// From JSON text to the structs of spec.hpp.
//
// For: config.json, `exec --process FILE`, `update --resources FILE`, `box --seccomp FILE`.
// Not for: whether the parts fit together (validate.hpp), or what the kernel can do.
// Properties that are not known are ignored, null counts as absent. A wrong type, a number out of
// range or an unknown word is an error of kind invalid_spec that names the field:
// "config.json: process.rlimits[1].type: unknown resource limit "RLIMIT_FOO"".
// What is let through though it can't be done (an unknown capability) becomes a warning.
// Source: runtime-spec 1.0 to 1.3, config.md and config-linux.md.
#pragma once

#include <string>
#include <vector>

#include "oci/spec.hpp"

namespace tare::oci {

using Warnings = std::vector<std::string>;

// file_name stands in messages only. The result is normalized (validate.hpp) but not validated.
Spec parse_spec(std::string text, const std::string& file_name, Warnings& warnings);
Process parse_process(std::string text, const std::string& file_name, Warnings& warnings);
// The object linux.resources by itself.
Resources parse_resources(std::string text, const std::string& file_name);
// The object linux.seccomp by itself.
Seccomp parse_seccomp(std::string text, const std::string& file_name);

}  // namespace tare::oci
