// Writing fields of a struct as members of a JSON object; what is at its default is left out.
// Private to this room.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "oci/spec.hpp"

namespace tare::oci {

inline void write(json::Writer& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out.key(key).string(value);
}

inline void write(json::Writer& out, std::string_view key, const std::vector<std::string>& value) {
  if (!value.empty()) out.key(key).strings(value);
}

inline void write(json::Writer& out, std::string_view key, const std::map<std::string, std::string>& value) {
  if (value.empty()) return;
  out.key(key).begin_object();
  for (const auto& [name, text] : value) out.key(name).string(text);
  out.end_object();
}

// By the width of T: a char or a bool must not slip in here as a number.
template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>)
void number(json::Writer& out, std::string_view key, T value) {
  if constexpr (std::is_signed_v<T>) {
    out.key(key).number(std::int64_t{value});
  } else {
    out.key(key).number(std::uint64_t{value});
  }
}

template <std::integral T>
void write(json::Writer& out, std::string_view key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::same_as<T, bool>) {
    out.key(key).boolean(*value);
  } else {
    number(out, key, *value);
  }
}

// f(element) writes one value for each element.
template <class T, class F>
void write_each(json::Writer& out, std::string_view key, const std::vector<T>& list, F&& f) {
  if (list.empty()) return;
  out.key(key).begin_array();
  for (const auto& entry : list) f(entry);
  out.end_array();
}

// Each writes one value.
void write_value(json::Writer& out, const Process& process);
void write_value(json::Writer& out, const Linux& spec);
void write_value(json::Writer& out, const Resources& resources);
void write_value(json::Writer& out, const Seccomp& seccomp);
void write_value(json::Writer& out, const IdMapping& mapping);

}  // namespace tare::oci
