#include "cli/option.hpp"

#include <getopt.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::cli {
namespace {

std::optional<bool> truth(std::string_view word) {
  for (const std::string_view yes : {"true", "1", "t", "T", "TRUE", "True"}) {
    if (word == yes) return true;
  }
  for (const std::string_view no : {"false", "0", "f", "F", "FALSE", "False"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

// The tables in getopt_long's form.
struct Tables {
  std::string letters;
  std::vector<option> names;

  explicit Tables(const Command& command) {
    letters = command.order == Order::first_word ? "+:" : ":";
    names.reserve(command.options.size() + 2);
    for (const Option& o : command.options) {
      if (o.letter != 0) {
        letters += o.letter;
        if (o.value != nullptr) letters += ':';
      }
      names.push_back({o.name, o.value != nullptr ? required_argument : optional_argument, nullptr,
                       kFirst + static_cast<int>(o.id)});
    }
    letters += 'h';
    names.push_back({"help", no_argument, nullptr, kFirst + static_cast<int>(Opt::help)});
    names.push_back({nullptr, 0, nullptr, 0});
  }

  static constexpr int kFirst = 1000;  // long options return this and more, letters themselves
};

const Option* by_letter(const Command& command, int letter) {
  for (const Option& o : command.options) {
    if (o.letter != 0 && o.letter == letter) return &o;
  }
  return nullptr;
}

[[noreturn]] void unknown_option(const Command& command, std::string_view word) {
  Error error(ErrorKind::usage, cat("unknown option ", quoted(word)));
  if (word.starts_with("--")) {
    const std::string_view name = word.substr(2, word.find('=') - 2);
    std::vector<std::string_view> names = {"help"};
    for (const Option& o : command.options) names.emplace_back(o.name);
    const std::string_view meant = closest(name, names);
    if (!meant.empty()) error.hint(cat("did you mean --", meant, "?"));
  }
  throw error;
}

// The word of argv that held the long option which getopt_long just returned.
std::string_view option_word(char** argv) {
  const char* last = argv[optind - 1];
  return optarg != nullptr && optarg == last ? argv[optind - 2] : last;
}

// getopt_long takes beginnings of names for the names; an option added later would then change
// what a script means, so only whole names are taken.
void must_be_whole(const Command& command, std::string_view word, std::string_view name) {
  if (word.substr(2, word.find('=') - 2) != name) unknown_option(command, word);
}

void add_given(Parsed& parsed, const Command& command, Opt id, char** argv, bool is_long) {
  if (id == Opt::help) {
    if (is_long) must_be_whole(command, option_word(argv), "help");
    parsed.options.push_back({id, nullptr});
    return;
  }
  for (const Option& o : command.options) {
    if (o.id != id) continue;
    if (is_long) must_be_whole(command, option_word(argv), o.name);
    if (o.value == nullptr && optarg != nullptr && !truth(optarg)) {
      throw Error(ErrorKind::usage, cat("--", o.name, ": ", quoted(optarg), " is neither true nor false"));
    }
    parsed.options.push_back({id, optarg});
  }
}

void check_words(const Command& command, const Parsed& parsed) {
  if (parsed.has(Opt::help)) return;
  if (parsed.words.size() < command.least) {
    throw Error(ErrorKind::usage, command.least == 1 ? cat("needs ", command.words)
                                                     : cat("needs ", command.least, " arguments: ", command.words));
  }
  if (parsed.words.size() > command.most) {
    throw Error(ErrorKind::usage, cat("argument too many: ", quoted(parsed.words[command.most])));
  }
}

}  // namespace

bool Parsed::has(Opt id) const {
  return std::any_of(options.begin(), options.end(), [id](const Given& g) { return g.id == id; });
}

bool Parsed::on(Opt id) const {
  bool on = false;
  for (const Given& g : options) {
    if (g.id == id) on = g.value == nullptr || truth(g.value).value_or(false);
  }
  return on;
}

std::string_view Parsed::last(Opt id, std::string_view otherwise) const {
  for (auto g = options.rbegin(); g != options.rend(); ++g) {
    if (g->id == id && g->value != nullptr) return g->value;
  }
  return otherwise;
}

std::vector<std::string> Parsed::all(Opt id) const {
  std::vector<std::string> values;
  for (const Given& g : options) {
    if (g.id == id && g.value != nullptr) values.emplace_back(g.value);
  }
  return values;
}

Parsed parse(const Command& command, int argc, char** argv) {
  const Tables tables(command);
  Parsed parsed;
  opterr = 0;
  optind = 0;  // glibc: begin afresh
  for (;;) {
    optopt = 0;
    const int got = getopt_long(argc, argv, tables.letters.c_str(), tables.names.data(), nullptr);
    if (got == -1) break;
    if (got == ':') throw Error(ErrorKind::usage, cat("option ", quoted(argv[optind - 1]), " needs a value"));
    if (got == '?' && optopt >= Tables::kFirst) {
      throw Error(ErrorKind::usage, cat("option ", quoted(argv[optind - 1]), " takes no value"));
    }
    if (got == '?' && optopt != '?') {
      // optopt: a bad letter, or 0 for an unknown long name.
      unknown_option(command, optopt != 0 ? cat("-", static_cast<char>(optopt)) : std::string(argv[optind - 1]));
    }
    if (got < Tables::kFirst) {
      const Option* own = by_letter(command, got);  // none: -h, and crun's -?
      add_given(parsed, command, own != nullptr ? own->id : Opt::help, argv, false);
    } else {
      add_given(parsed, command, static_cast<Opt>(got - Tables::kFirst), argv, true);
    }
  }
  parsed.used = static_cast<std::size_t>(optind);
  for (int i = optind; i < argc; ++i) parsed.words.emplace_back(argv[i]);
  check_words(command, parsed);
  return parsed;
}

long long number_of(const Parsed& parsed, Opt id, std::string_view name, long long least, long long most,
                    long long otherwise) {
  if (!parsed.has(id)) return otherwise;
  const std::string_view text = parsed.last(id);
  const std::optional<long long> n = parse_number<long long>(text);
  if (!n || *n < least || *n > most) {
    throw Error(ErrorKind::usage, cat("--", name, ": ", quoted(text), " is not a number from ", least, " to ", most));
  }
  return *n;
}

}  // namespace tare::cli
