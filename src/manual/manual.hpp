// The command tables as man pages and shell completions: what --help says, in the forms that `make install` puts
// where man(1) and the shells look.
//
// For: tare-manual, which the build runs. Not for: the programs that are installed.
// Source: man(7), bash(1) "Programmable Completion", zshcompsys(1), complete(1) of fish.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/option.hpp"

namespace tare::manual {

using Commands = std::span<const cli::Command* const>;
using Options = std::span<const cli::Option>;

// tare(1), the page that lists the commands.
std::string man_page(Commands commands, Options globals);
// tare-COMMAND(1).
std::string man_page(const cli::Command& command);
// tare-weigh(1), from the text that `tare weigh --help` prints.
std::string weigh_page(std::string_view help);

std::string bash_completion(Commands commands, Options globals);
std::string zsh_completion(Commands commands, Options globals);
std::string fish_completion(Commands commands, Options globals);

}  // namespace tare::manual
