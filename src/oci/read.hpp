// Reading members of a JSON object into fields of a struct: the words in which the parsers are
// written. An absent member (or null) leaves the field as it is. Private to this room.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"

namespace tare::oci {

// The largest uid or gid: 2^32 - 1 is (uid_t)-1, "no change" to the kernel.
inline constexpr std::uint32_t kLargestId = 4294967294;

template <std::integral T>
  requires(!std::same_as<T, bool>)
T integer(const json::Field& field) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(field.int64(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else {
    return static_cast<T>(field.uint64(std::numeric_limits<T>::max()));
  }
}

inline void read(const json::Field& object, std::string_view key, std::string& out) {
  if (const auto field = object.member(key)) out = field.string_view();
}

inline void read(const json::Field& object, std::string_view key, std::vector<std::string>& out) {
  if (const auto field = object.member(key)) out = field.strings();
}

inline void read(const json::Field& object, std::string_view key, bool& out) {
  if (const auto field = object.member(key)) out = field.boolean();
}

inline void read(const json::Field& object, std::string_view key, std::optional<bool>& out) {
  if (const auto field = object.member(key)) out = field.boolean();
}

template <std::integral T>
  requires(!std::same_as<T, bool>)
void read(const json::Field& object, std::string_view key, T& out) {
  if (const auto field = object.member(key)) out = integer<T>(field);
}

template <std::integral T>
  requires(!std::same_as<T, bool>)
void read(const json::Field& object, std::string_view key, std::optional<T>& out) {
  if (const auto field = object.member(key)) out = integer<T>(field);
}

inline void read_id(const json::Field& object, std::string_view key, std::optional<std::uint32_t>& out) {
  if (const auto field = object.member(key)) out = static_cast<std::uint32_t>(field.uint64(kLargestId));
}

inline void read_id(const json::Field& object, std::string_view key, std::uint32_t& out) {
  if (const auto field = object.member(key)) out = static_cast<std::uint32_t>(field.uint64(kLargestId));
}

// A count of bytes or microseconds, with -1 for "no limit".
inline void read_limit(const json::Field& object, std::string_view key, std::optional<std::int64_t>& out) {
  if (const auto field = object.member(key)) out = field.int64(-1);
}

// f(element) for each element of an array.
template <class F>
void each(const json::Field& object, std::string_view key, F&& f) {
  const auto list = object.member(key);
  if (!list) return;
  const std::size_t count = list.array().size();
  for (std::size_t i = 0; i < count; ++i) f(list.at(i));
}

// f(member) for each member of an object that is used as a map.
template <class F>
void each_member(const json::Field& object, std::string_view key, F&& f) {
  const auto map = object.member(key);
  if (!map) return;
  const std::size_t count = map.object().size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry = map.member_at(i);
    // The key becomes a name to the kernel, where a NUL would cut it short.
    if (entry.key().find('\0') != std::string_view::npos) map.fail("a key holds the character U+0000");
    f(entry);
  }
}

inline void read(const json::Field& object, std::string_view key, std::map<std::string, std::string>& out) {
  each_member(object, key, [&](const json::Field& entry) { out[std::string(entry.key())] = entry.string_view(); });
}

// The number that a word stands for; what: "namespace type".
template <class Number>
Number word(const json::Field& field, std::optional<Number> (*number)(std::string_view), std::string_view what) {
  const auto name = field.string_view();
  const auto found = number(name);
  if (!found) field.fail(cat("unknown ", what, " ", quoted(name)));
  return *found;
}

}  // namespace tare::oci
