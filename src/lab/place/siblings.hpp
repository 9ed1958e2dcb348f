// The other containers beside one. Inside lab/place only.
//
// Idle ones sleep in recv(2) as long as they live. Busy ones fork and reap without end, on the CPUs that the laboratory
// itself may use, and only while the place beside them has its turn: between the turns they are stopped (SIGSTOP),
// since all places of a launch live at the same time and the others have no siblings. So idle ones are there for all
// places, bare too. Errors: kind kernel, child.
#pragma once

#include <string>
#include <vector>

#include "lab/place/launcher.hpp"
#include "lab/place/measuring_cgroup.hpp"

namespace tare::lab {

class Siblings {
 public:
  Siblings(MeasuringCgroup& cgroup, bool busy) : cgroup_(cgroup), busy_(busy) {}
  ~Siblings();
  Siblings(const Siblings&) = delete;
  Siblings& operator=(const Siblings&) = delete;

  void add(const std::string& cgroup, Launched sibling);
  void work(bool begin);  // busy ones: go on, or stop

 private:
  MeasuringCgroup& cgroup_;
  bool busy_;
  std::vector<Launched> all_;
  std::vector<std::string> cgroups_;
};

}  // namespace tare::lab
