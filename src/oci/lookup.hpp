// A table of names and numbers, searched from the front: these tables are short and seldom asked.
// Private to this room.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tare::oci {

template <class Number>
struct Named {
  std::string_view name;
  Number number;
};

template <class Number, std::size_t N>
constexpr std::optional<Number> number_in(const Named<Number> (&table)[N], std::string_view name) {
  for (const auto& entry : table) {
    if (entry.name == name) return entry.number;
  }
  return std::nullopt;
}

template <class Number, std::size_t N>
constexpr std::string_view name_in(const Named<Number> (&table)[N], Number number) {
  for (const auto& entry : table) {
    if (entry.number == number) return entry.name;
  }
  return {};
}

}  // namespace tare::oci
