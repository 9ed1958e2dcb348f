#include <cmath>
#include <cstdio>

#include "base/text.hpp"
#include "lab/report/report.hpp"

namespace tare::lab {

std::string fixed(double value, int digits, bool sign) {
  if (std::isnan(value)) return "?";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, sign ? "%+.*f" : "%.*f", digits, value);
  std::string text(buffer);
  // Nothing is never negative.
  if (text.find_first_not_of("+-0.") == std::string::npos && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
  return text;
}

std::string duration(double ns) {
  if (std::isnan(ns)) return "?";
  const char* unit = "ns";
  double value = ns;
  for (const char* next : {"us", "ms", "s"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = next;
  }
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return cat(fixed(value, digits), " ", unit);
}

}  // namespace tare::lab
