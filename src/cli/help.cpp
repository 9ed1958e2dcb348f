#include <algorithm>

#include "base/text.hpp"
#include "cli/option.hpp"

namespace tare::cli {
namespace {

constexpr std::size_t kColumn = 30;  // where the explanations begin
constexpr std::size_t kWidth = 100;

// Words of `text` from column `at` on, broken before kWidth.
void wrap(std::string& out, std::string_view text, std::size_t at, std::size_t used) {
  std::size_t column = used;
  bool first = true;
  for (const std::string_view word : split(text, ' ')) {
    if (!first && column + 1 + word.size() > kWidth) {
      out += cat("\n", std::string(at, ' '), word);
      column = at + word.size();
      continue;
    }
    if (!first) out += ' ';
    out += word;
    column += word.size() + (first ? 0 : 1);
    first = false;
  }
  out += '\n';
}

void entry(std::string& out, std::string_view left, std::string_view text) {
  const std::string line = cat("  ", left);
  if (line.size() + 2 > kColumn) {
    out += cat(line, "\n", std::string(kColumn, ' '));
  } else {
    out += cat(line, std::string(kColumn - line.size(), ' '));
  }
  wrap(out, text, kColumn, kColumn);
}

void option_entry(std::string& out, const Option& o) {
  std::string left = o.letter != 0 ? cat("-", o.letter, ", --", o.name) : cat("    --", o.name);
  if (o.value != nullptr) left += cat(" ", o.value);
  entry(out, left, o.help);
}

}  // namespace

std::string usage_line(const Command& command) {
  return cat("usage: tare ", command.name, " [options]", *command.words != '\0' ? " " : "", command.words);
}

std::string help_text(const Command& command) {
  std::string out = cat(usage_line(command), "\n\n");
  wrap(out, command.summary, 0, 0);
  if (*command.text != '\0') out += cat("\n", command.text, "\n");
  out += "\noptions:\n";
  for (const Option& o : command.options) option_entry(out, o);
  entry(out, "-h, --help", "print this");
  return out;
}

std::string help_text(std::span<const Command* const> commands, std::span<const Option> globals) {
  std::string out = "usage: tare [global options] COMMAND [options] [arguments]\n\n";
  wrap(out, "A container runtime for Linux that takes OCI bundles, and a scale that weighs what isolation costs.", 0,
       0);
  out += "\ncommands:\n";
  for (const Command* command : commands) entry(out, command->name, command->summary);
  out += "\nglobal options:\n";
  for (const Option& o : globals) option_entry(out, o);
  entry(out, "-v, --version", "print the version");
  entry(out, "-h, --help", "print this");
  out += "\n\"tare COMMAND --help\" tells more about a command. Try: tare box\n";
  return out;
}

}  // namespace tare::cli
