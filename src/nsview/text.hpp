// What processes and containers named, made fit to be shown.
//
// A command, a cgroup or a host name may hold control characters that act on a terminal, marks that turn the direction
// of what follows, and bytes that are no text at all.
#pragma once

#include <string>
#include <string_view>

namespace tare::nsview {

// For a table: control characters, marks of direction and bytes that are not UTF-8 as \xNN, a backslash as \\.
std::string visible(std::string_view text);
// For JSON, with quotes: valid UTF-8 whatever the bytes (those that are none become U+FFFD), and nothing in it acts on
// a terminal either.
std::string json_string(std::string_view text);

}  // namespace tare::nsview
