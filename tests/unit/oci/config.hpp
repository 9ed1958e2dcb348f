// A small valid config.json for the tests of this room, and ways to change it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "oci/parse.hpp"
#include "oci/validate.hpp"

namespace tare::oci::test {

inline const char* const kConfig = R"({
  "ociVersion": "1.2.0",
  "process": {"user": {"uid": 0, "gid": 0}, "args": ["sh"], "env": ["A=1"], "cwd": "/"},
  "root": {"path": "rootfs"},
  "linux": {"namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}]}
})";

// kConfig with a JSON merge patch (RFC 7396): a list replaces a list, null removes.
inline std::string patched(const std::string& patch) {
  auto config = nlohmann::json::parse(kConfig);
  config.merge_patch(nlohmann::json::parse(patch));
  return config.dump(2);
}

struct Outcome {
  Spec spec;
  Warnings warnings;
  std::string error;  // empty: accepted
};

// Parses and validates, as create does.
inline Outcome read_config(std::string text) {
  Outcome out;
  try {
    out.spec = parse_spec(std::move(text), "config.json", out.warnings);
    validate(out.spec, out.warnings);
  } catch (const Error& error) {
    const bool expected = error.kind() == ErrorKind::invalid_spec || error.text().ends_with(": not supported yet");
    out.error = expected ? error.text() : "error of another kind: " + error.text();
  }
  return out;
}

}  // namespace tare::oci::test
