#include "lab/stats/entered.hpp"

namespace tare::lab {

Entry entered(const std::vector<Evidence>& evidence, int workload, std::string_view layer) {
  bool looked = false;
  for (const Evidence& e : evidence) {
    if (e.workload != workload || e.layer != layer) continue;
    if (e.rate > 0) return Entry::yes;
    looked = looked || e.conclusive;
  }
  return looked ? Entry::no : Entry::unknown;
}

std::string_view layer_of(const Place& place) {
  if (place.kind == PlaceKind::layer) return place.name;
  if (place.kind == PlaceKind::namespaces && place.namespaces.size() == 1) return place.namespaces.front();
  return {};
}

}  // namespace tare::lab
