#include <algorithm>
#include <array>

#include "cli/option.hpp"

namespace tare::cli {
namespace {

constexpr std::size_t kLongest = 32;

// How many letters must be added, left out, changed or swapped with their neighbour (the "optimal
// string alignment" distance). Words longer than kLongest are never alike.
std::size_t slips(std::string_view a, std::string_view b) {
  if (a.size() > kLongest || b.size() > kLongest) return kLongest;
  std::array<std::array<std::size_t, kLongest + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string_view closest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  const std::size_t limit = word.size() < 4 ? 2 : 3;  // one more than may be
  std::size_t fewest = limit;
  std::size_t best_slips = kLongest;
  for (const std::string_view name : names) {
    const std::size_t n = slips(word, name);
    // "console" for "console-socket": somebody stopped early. That counts as one slip.
    const bool beginning = word.size() >= 3 && name.starts_with(word);
    const std::size_t weight = beginning ? std::min<std::size_t>(n, 1) : n;
    if (weight >= limit || weight >= std::max(word.size(), name.size())) continue;  // nothing of it would be left
    if (weight < fewest || (weight == fewest && n < best_slips)) {
      fewest = weight;
      best_slips = n;
      best = name;
    }
  }
  return best;
}

}  // namespace tare::cli
