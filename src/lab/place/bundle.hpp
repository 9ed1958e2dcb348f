// A bundle of the default container, for the workloads that start containers or enter one.
//
// Its folder lies in the run's scratch folder and its containers' cgroups below the measuring cgroup, so
// that whoever ends a run, or cleans up after a killed one, ends and removes them too.
// Errors: kind kernel with the file; child where `tare box --print-spec` fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tare::lab {

struct Bundle {
  std::string tare;    // the program
  std::string folder;  // config.json: a container that runs /bin/true; idle.json: one that sleeps for an hour
  std::string state;   // for --root
};

// scratch: a folder that is there; place: a name for the folder in it; cgroup: where the containers' cgroups
// go, below the mount points, with a leading slash (seen from a cgroup namespace too it is the same place).
Bundle make_bundle(const std::string& scratch, const std::string& place, const std::string& cgroup);

// The text with {tare}, {bundle} and {state} put in.
std::string put_in(std::string_view text, const Bundle& bundle);
std::vector<std::string> put_in(const std::vector<std::string>& texts, const Bundle& bundle);

// Removes a folder with what is in it, as far as that lies on its file system; links are not followed.
void remove_folder(const std::string& path) noexcept;

}  // namespace tare::lab
