// One of several by its name, or an error that lists them. Inside lab/model only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::lab {

template <class T>
T take(const std::vector<T>& known, const std::string& name, std::string_view what) {
  for (const T& one : known) {
    if (one.name == name) return one;
  }
  std::string names;
  for (const T& one : known) names += cat(names.empty() ? "" : ", ", one.name);
  throw Error(ErrorKind::usage, cat("no ", what, " is called ", tare::quoted(name))).hint(cat("known: ", names));
}

}  // namespace tare::lab
