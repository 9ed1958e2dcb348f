// tare-manual DIR: writes man pages and completions below DIR, as `make install` takes them. Run by the build.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "lab/cli/options.hpp"
#include "manual/manual.hpp"
#include "sys/fd.hpp"

namespace {

using tare::cat;

void put(const std::string& path, const std::string& text) {
  tare::sys::write_all(tare::sys::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), text);
}

void make_all(const std::string& dir) {
  std::vector<const tare::cli::Command*> commands;
  for (const tare::cli::Entry& e : tare::cli::entries()) commands.push_back(e.command);
  // The last two are one option: its two letters.
  const auto globals = tare::cli::global_options().first(tare::cli::global_options().size() - 2);
  for (const char* sub : {"", "/man1", "/bash", "/zsh", "/fish"}) mkdir(cat(dir, sub).c_str(), 0755);
  put(cat(dir, "/man1/tare.1"), tare::manual::man_page(commands, globals));
  for (const tare::cli::Command* command : commands) {
    const bool weigh = command->name == std::string_view("weigh");
    put(cat(dir, "/man1/tare-", command->name, ".1"),
        weigh ? tare::manual::weigh_page(tare::lab::help_text()) : tare::manual::man_page(*command));
  }
  put(cat(dir, "/bash/tare"), tare::manual::bash_completion(commands, globals));
  put(cat(dir, "/zsh/_tare"), tare::manual::zsh_completion(commands, globals));
  put(cat(dir, "/fish/tare.fish"), tare::manual::fish_completion(commands, globals));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw tare::Error(tare::ErrorKind::usage, "usage: tare-manual DIR");
    make_all(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    const std::string text = cat("tare-manual: ", error.what(), "\n");
    if (write(2, text.data(), text.size()) < 0) return 2;
    return 1;
  }
}
