#include "base/text.hpp"
#include "manual/manual.hpp"

namespace tare::manual {

namespace {

using cli::Command;
using cli::Option;
using cli::Order;

// A word within single quotes, for all three shells.
std::string quoted_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool takes_container(const Command& command) { return std::string_view(command.words).starts_with("CONTAINER"); }
bool takes_path(const Option& o) {
  const std::string_view value = o.value == nullptr ? "" : o.value;
  return value == "DIR" || value == "FILE" || value == "PATH" || value.starts_with("SRC");
}

std::string spelled(Options options) {
  std::string out;
  for (const Option& o : options) {
    if (o.letter != 0) out += cat("-", o.letter, " ");
    out += cat("--", o.name, " ");
  }
  return out + "--help";
}

// Those that are followed by a word of their own: "-b|--bundle".
std::string with_value(Options options) {
  std::string out;
  for (const Option& o : options) {
    if (o.value == nullptr) continue;
    if (!out.empty()) out += '|';
    if (o.letter != 0) out += cat("-", o.letter, "|");
    out += cat("--", o.name);
  }
  return out.empty() ? "''" : out;
}

std::string paths_of(Options options) {
  std::string out;
  for (const Option& o : options) {
    if (!takes_path(o)) continue;
    if (!out.empty()) out += '|';
    if (o.letter != 0) out += cat("-", o.letter, "|");
    out += cat("--", o.name);
  }
  return out.empty() ? "''" : out;
}

}  // namespace

std::string bash_completion(Commands commands, Options globals) {
  std::string out = "# bash completion of tare(1); made by the build.\n_tare() {\n";
  out +=
      "  local word command= options words current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} i\n";
  out += "  for ((i = 1; i < COMP_CWORD; i++)); do\n    word=${COMP_WORDS[i]}\n    case $word in\n";
  out += cat("      ", with_value(globals),
             ") ((i++)) ;;\n      -*) ;;\n      *) command=$word; break ;;\n    esac\n  done\n");
  out += "  case $command in\n    '')\n      case $previous in\n";
  out += cat("        ", paths_of(globals), ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n");
  out += cat("        ", with_value(globals), ") return ;;\n      esac\n");
  out += cat("      options='", spelled(globals), " --version'\n      words='");
  for (const Command* command : commands) out += cat(command->name, " ");
  out += "'\n      ;;\n";
  for (const Command* command : commands) {
    out += cat("    ", command->name, ")\n      case $previous in\n");
    out += cat("        ", paths_of(command->options), ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n");
    out += cat("        ", with_value(command->options), ") return ;;\n      esac\n");
    out += cat("      options='", spelled(command->options), "'\n");
    if (takes_container(*command)) {
      out += "      words=$(tare list -q 2>/dev/null)\n      ;;\n";
    } else if (command->order == Order::first_word) {
      out += "      words=$(compgen -c -- \"$current\")\n      ;;\n";
    } else {
      out += "      words=\n      ;;\n";
    }
  }
  out += "    *) return ;;\n  esac\n";
  out += "  [[ $current == -* ]] && words=$options\n";
  out += "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\ncomplete -F _tare tare\n";
  return out;
}

namespace {

// _arguments takes "[text]" and ":" as marks.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_options(Options options, std::string_view indent) {
  std::string out;
  const auto one = [&](std::string_view spelling, const Option& o, std::string_view joined) {
    std::string line = cat(spelling, o.value != nullptr ? joined : "", "[", zsh_text(o.help), "]");
    if (o.value != nullptr) line += cat(":", zsh_text(o.value), ":", takes_path(o) ? "_files" : " ");
    out += cat(indent, quoted_word(line), " \\\n");
  };
  for (const Option& o : options) {
    if (o.letter != 0) one(cat("*-", o.letter), o, "");
    one(cat("*--", o.name), o, "=");
  }
  return cat(out, indent, "'(- *)'{-h,--help}'[print this]'");
}

}  // namespace

std::string zsh_completion(Commands commands, Options globals) {
  std::string out = "#compdef tare\n# zsh completion of tare(1); made by the build.\n";
  out += "_tare_containers() { local -a ids; ids=(${(f)\"$(tare list -q 2>/dev/null)\"}); compadd -a ids }\n";
  out += "_tare_commands() {\n  local -a commands\n  commands=(\n";
  for (const Command* command : commands) {
    out += cat("    ", quoted_word(cat(command->name, ":", command->summary)), "\n");
  }
  out +=
      "  )\n  _describe command commands\n}\n_tare() {\n  local context state line curcontext=$curcontext\n  typeset "
      "-A opt_args\n";
  out += cat(
      "  _arguments -C -S \\\n", zsh_options(globals, "    "),
      " \\\n    '(- *)'{-v,--version}'[print the version]' \\\n    '1:command:_tare_commands' '*::argument:->rest'\n");
  out += "  [[ $state == rest ]] || return\n  case $words[1] in\n";
  for (const Command* command : commands) {
    out += cat("    ", command->name, ")\n      _arguments -S \\\n", zsh_options(command->options, "        "));
    if (takes_container(*command)) {
      out += " \\\n        '1:container:_tare_containers'";
      if (command->most > 1) out += " '*::argument:_normal'";
    } else if (command->order == Order::first_word) {
      out += " \\\n        '*::command:_normal'";
    } else if (command->most > 0) {
      out += " \\\n        '*:argument:_files'";
    }
    out += "\n      ;;\n";
  }
  return out + "  esac\n}\n_tare \"$@\"\n";
}

std::string fish_completion(Commands commands, Options globals) {
  std::string names;
  for (const Command* command : commands) names += cat(names.empty() ? "" : " ", command->name);
  std::string out = "# fish completion of tare(1); made by the build.\n";
  out += cat("set -l commands ", names, "\ncomplete -c tare -f\n");
  const auto options = [&](Options list, std::string_view when) {
    for (const Option& o : list) {
      out += cat("complete -c tare -n ", when);
      if (o.letter != 0) out += cat(" -s ", o.letter);
      out += cat(" -l ", o.name);
      if (o.value != nullptr) out += takes_path(o) ? " -r -F" : " -x";
      out += cat(" -d ", quoted_word(o.help), "\n");
    }
  };
  const std::string_view none = "\"not __fish_seen_subcommand_from $commands\"";
  options(globals, none);
  for (const Command* command : commands) {
    out += cat("complete -c tare -n ", none, " -a ", command->name, " -d ", quoted_word(command->summary), "\n");
  }
  for (const Command* command : commands) {
    const std::string when = cat("\"__fish_seen_subcommand_from ", command->name, "\"");
    options(command->options, when);
    if (takes_container(*command)) out += cat("complete -c tare -n ", when, " -a \"(tare list -q 2>/dev/null)\"\n");
    if (command->order == Order::first_word) {
      out += cat("complete -c tare -n ", when, " -a \"(__fish_complete_subcommand)\"\n");
    }
  }
  return out;
}

}  // namespace tare::manual
