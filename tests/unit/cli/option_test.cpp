#include "cli/option.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"

namespace tare::cli {
namespace {

// getopt_long wants an argv it may reorder.
class Argv {
 public:
  explicit Argv(std::vector<std::string> words) : words_(std::move(words)) {
    words_.insert(words_.begin(), "tare");
    for (std::string& w : words_) pointers_.push_back(w.data());
    pointers_.push_back(nullptr);
  }
  Parsed parse(const Command& command) {
    return cli::parse(command, static_cast<int>(words_.size()), pointers_.data());
  }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

Parsed parsed(const Command& command, std::vector<std::string> words) {
  // What is parsed points into argv, which lives as long as the program.
  static std::deque<Argv> kept;
  return kept.emplace_back(std::move(words)).parse(command);
}

std::string error_of(const Command& command, std::vector<std::string> words) {
  try {
    parsed(command, std::move(words));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.hint().empty() ? error.text() : error.text() + " / " + error.hint();
  }
  return "no error";
}

TEST(Parse, OptionsBeforeAndAfterTheOtherWords) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--bundle", "/b", "--pid-file=/p", "id"},
                                                                 {"id", "--bundle", "/b", "--pid-file", "/p"},
                                                                 {"-b", "/b", "id", "--pid-file", "/p"},
                                                                 {"-b/b", "--pid-file", "/p", "--", "id"}}) {
    const Parsed p = parsed(kCreate, words);
    EXPECT_EQ(p.last(Opt::bundle), "/b");
    EXPECT_EQ(p.last(Opt::pid_file), "/p");
    EXPECT_EQ(p.words, std::vector<std::string>{"id"});
  }
}

TEST(Parse, ExecAndBoxLeaveTheProgramsOptionsAlone) {
  const Parsed p = parsed(kExec, {"-t", "-e", "A=1", "-e", "B=2", "id", "ls", "-l", "--env", "x"});
  EXPECT_EQ(p.words, (std::vector<std::string>{"id", "ls", "-l", "--env", "x"}));
  EXPECT_EQ(p.all(Opt::env), (std::vector<std::string>{"A=1", "B=2"}));
  EXPECT_EQ(parsed(kBox, {"--init", "--", "ls", "--init=no"}).words, (std::vector<std::string>{"ls", "--init=no"}));
  EXPECT_EQ(parsed(kPs, {"-f", "json", "id", "-ef"}).words, (std::vector<std::string>{"id", "-ef"}));
}

TEST(Parse, SwitchesTakeTrueAndFalse) {
  EXPECT_TRUE(parsed(kRun, {"-d", "id"}).on(Opt::detach));
  EXPECT_TRUE(parsed(kRun, {"--detach=true", "id"}).on(Opt::detach));
  EXPECT_FALSE(parsed(kRun, {"--detach=false", "id"}).on(Opt::detach));
  EXPECT_FALSE(parsed(kRun, {"-d", "--detach=false", "id"}).on(Opt::detach)) << "the last one wins";
  EXPECT_FALSE(parsed(kRun, {"id"}).on(Opt::detach));
  EXPECT_EQ(error_of(kRun, {"--detach=maybe", "id"}), "--detach: \"maybe\" is neither true nor false");
}

TEST(Parse, LettersMayStandTogether) {
  const Parsed p = parsed(kExec, {"-dtu", "5:6", "id", "true"});
  EXPECT_TRUE(p.on(Opt::detach));
  EXPECT_TRUE(p.on(Opt::tty));
  EXPECT_EQ(p.last(Opt::user), "5:6");
}

TEST(Parse, Errors) {
  EXPECT_EQ(error_of(kRun, {"--bundel", "x", "id"}), "unknown option \"--bundel\" / did you mean --bundle?");
  EXPECT_EQ(error_of(kRun, {"--bundel=x", "id"}), "unknown option \"--bundel=x\" / did you mean --bundle?");
  EXPECT_EQ(error_of(kRun, {"--pid", "x", "id"}), "unknown option \"--pid\" / did you mean --pid-file?")
      << "a beginning is not the name";
  EXPECT_EQ(error_of(kRun, {"--det", "id"}), "unknown option \"--det\" / did you mean --detach?");
  EXPECT_EQ(error_of(kRun, {"--frobnicate", "id"}), "unknown option \"--frobnicate\"");
  EXPECT_EQ(error_of(kRun, {"-x", "id"}), "unknown option \"-x\"");
  EXPECT_EQ(error_of(kRun, {"--bundle"}), "option \"--bundle\" needs a value");
  EXPECT_EQ(error_of(kRun, {"id", "-b"}), "option \"-b\" needs a value");
  EXPECT_EQ(error_of(kRun, {}), "needs CONTAINER");
  EXPECT_EQ(error_of(kRun, {"a", "b"}), "argument too many: \"b\"");
  EXPECT_EQ(error_of(kKill, {"a", "9", "c"}), "argument too many: \"c\"");
}

TEST(Parse, HelpNeedsNothingElse) {
  for (const char* word : {"--help", "-h", "-?"}) EXPECT_TRUE(parsed(kRun, {word}).has(Opt::help)) << word;
  EXPECT_EQ(error_of(kRun, {"--help=x", "id"}), "option \"--help=x\" takes no value");
}

TEST(Closest, OneOrTwoSlips) {
  const std::vector<std::string_view> names = {"create", "start", "state", "kill", "delete", "list", "exec", "ps"};
  EXPECT_EQ(closest("craete", names), "create");
  EXPECT_EQ(closest("creat", names), "create");
  EXPECT_EQ(closest("kil", names), "kill");
  EXPECT_EQ(closest("kill-", names), "kill");
  EXPECT_EQ(closest("statte", names), "state");
  EXPECT_EQ(closest("dleete", names), "delete");
  EXPECT_EQ(closest("sp", names), "ps");
  EXPECT_EQ(closest("frobnicate", names), "");
  EXPECT_EQ(closest("x", names), "");
  EXPECT_EQ(closest("", names), "");
  EXPECT_EQ(closest(std::string(1000, 'a'), names), "");
}

TEST(Number, IsWholeAndInRange) {
  const auto number = [](const char* text) {
    return number_of(parsed(kRun, {"--preserve-fds", text, "id"}), Opt::preserve_fds, "preserve-fds", 0, 10, 0);
  };
  EXPECT_EQ(number("7"), 7);
  for (const char* bad : {"", "-1", "11", "7x", " 7", "0x1", "99999999999999999999"})
    EXPECT_THROW(number(bad), Error) << bad;
}

// The tables themselves.
TEST(Tables, NamesAndLettersAreUnique) {
  for (const Entry& e : entries()) {
    std::set<std::string> names = {"help"};
    std::set<char> letters = {'h'};
    for (const Option& o : e.command->options) {
      EXPECT_TRUE(names.insert(o.name).second) << e.command->name << " --" << o.name;
      EXPECT_TRUE(o.letter == 0 || letters.insert(o.letter).second) << e.command->name << " -" << o.letter;
      EXPECT_NE(std::string(o.help), "");
    }
  }
}

// What engines were seen to pass, and what runc and crun document.
TEST(Tables, KnowTheOptionsOfOtherRuntimes) {
  const std::vector<std::pair<const Command*, std::vector<std::string>>> expected = {
      {&kCreate,
       {"bundle", "b", "console-socket", "pidfd-socket", "pid-file", "no-pivot", "no-new-keyring", "preserve-fds",
        "config", "f", "no-subreaper"}},
      {&kRun,
       {"bundle", "b", "console-socket", "pidfd-socket", "pid-file", "no-pivot", "no-new-keyring", "preserve-fds",
        "config", "f", "detach", "d", "keep", "no-subreaper"}},
      {&kExec,
       {"console-socket",
        "pidfd-socket",
        "cwd",
        "env",
        "e",
        "tty",
        "t",
        "user",
        "u",
        "additional-gids",
        "g",
        "process",
        "p",
        "detach",
        "d",
        "pid-file",
        "process-label",
        "apparmor",
        "no-new-privs",
        "cap",
        "c",
        "preserve-fds",
        "cgroup",
        "ignore-paused"}},
      {&kKill, {"all", "a", "regex", "r"}},
      {&kDelete, {"force", "f", "regex", "r"}},
      {&kList, {"format", "f", "quiet", "q"}},
      {&kPs, {"format", "f"}},
      {&kUpdate,
       {"resources",
        "r",
        "blkio-weight",
        "cpu-period",
        "cpu-quota",
        "cpu-burst",
        "cpu-share",
        "cpu-rt-period",
        "cpu-rt-runtime",
        "cpu-idle",
        "cpuset-cpus",
        "cpuset-mems",
        "memory",
        "memory-reservation",
        "memory-swap",
        "kernel-memory",
        "kernel-memory-tcp",
        "pids-limit",
        "l3-cache-schema",
        "mem-bw-schema"}},
      {&kEvents, {"interval", "stats"}},
      {&kSpec, {"bundle", "b", "rootless"}},
  };
  for (const auto& [command, names] : expected) {
    for (const std::string& name : names) {
      bool found = false;
      for (const Option& o : command->options) {
        found = found || name == o.name || (name.size() == 1 && o.letter == name[0]);
      }
      EXPECT_TRUE(found) << command->name << " " << name;
    }
  }
  std::set<std::string> globals;
  for (const Option& o : global_options()) globals.insert(o.name);
  for (const char* name : {"debug", "log", "log-format", "log-level", "root", "systemd-cgroup", "rootless", "criu",
                           "cgroup-manager", "version"}) {
    EXPECT_TRUE(globals.contains(name)) << name;
  }
}

// Help is read by people and grepped by scripts: it changes on purpose only. TARE_WRITE_HELP=1 in
// the environment writes the files anew.
TEST(Help, IsAsWritten) {
  for (const Entry& e : entries()) {
    const std::string path = cat(TARE_SOURCE_DIR, "/tests/unit/cli/help/", e.command->name, ".txt");
    const std::string text = help_text(*e.command);
    if (std::getenv("TARE_WRITE_HELP") != nullptr) std::ofstream(path, std::ios::trunc) << text;
    std::ifstream in(path);
    const std::string written{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(text, written) << path;
    for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 100U) << line;
    EXPECT_EQ(text.find('\t'), std::string::npos);
  }
}

}  // namespace
}  // namespace tare::cli
