// From words to requests, and what is printed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/report.hpp"
#include "cli/users.hpp"

namespace tare::cli {
namespace {

Parsed parsed(const Command& command, std::vector<std::string> given) {
  // What is parsed points into argv, which lives as long as the program.
  static std::deque<std::vector<std::string>> kept;
  std::vector<std::string>& words = kept.emplace_back(std::move(given));
  words.insert(words.begin(), "tare");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  return parse(command, static_cast<int>(words.size()), argv.data());
}

TEST(Request, RunTakesEveryOption) {
  const runtime::RunRequest r = make_run_request(
      parsed(kRun, {"-b", "/b", "-f", "c.json", "--console-socket", "/s", "--pidfd-socket", "/q", "--pid-file", "/p",
                    "--preserve-fds", "3", "--no-pivot", "--no-new-keyring", "-d", "--keep", "--no-subreaper", "id"}));
  EXPECT_EQ(r.id, "id");
  EXPECT_EQ(r.bundle, "/b");
  EXPECT_EQ(r.config, "c.json");
  EXPECT_EQ(r.console_socket, "/s");
  EXPECT_EQ(r.pidfd_socket, "/q");
  EXPECT_EQ(r.pid_file, "/p");
  EXPECT_EQ(r.preserve_fds, 3);
  EXPECT_TRUE(r.no_pivot && r.no_new_keyring && r.detach && r.keep && r.no_subreaper);
  const runtime::RunRequest plain = make_run_request(parsed(kRun, {"id"}));
  EXPECT_EQ(plain.bundle, ".");
  EXPECT_FALSE(plain.no_pivot || plain.no_new_keyring || plain.detach || plain.keep || plain.no_subreaper);
  EXPECT_FALSE(plain.spec.has_value());
}

TEST(Request, ExecTakesEveryOption) {
  const runtime::ExecRequest r = make_exec_request(parsed(kExec, {"--cwd",
                                                                  "/w",
                                                                  "-e",
                                                                  "A=1",
                                                                  "--env=B=",
                                                                  "-t",
                                                                  "-u",
                                                                  "1:2",
                                                                  "-g",
                                                                  "3,4",
                                                                  "-g",
                                                                  "5",
                                                                  "-c",
                                                                  "CAP_KILL",
                                                                  "--cap",
                                                                  "CAP_CHOWN",
                                                                  "-d",
                                                                  "--cgroup",
                                                                  "x",
                                                                  "--apparmor",
                                                                  "a",
                                                                  "--process-label",
                                                                  "l",
                                                                  "--no-new-privs",
                                                                  "--ignore-paused",
                                                                  "--pid-file",
                                                                  "/p",
                                                                  "--preserve-fds",
                                                                  "1",
                                                                  "id",
                                                                  "sh",
                                                                  "-c",
                                                                  "x"}));
  EXPECT_EQ(r.id, "id");
  EXPECT_EQ(r.args, (std::vector<std::string>{"sh", "-c", "x"}));
  EXPECT_EQ(r.env, (std::vector<std::string>{"A=1", "B="}));
  EXPECT_EQ(r.cwd, "/w");
  EXPECT_EQ(r.user, "1:2");
  EXPECT_EQ(r.additional_gids, (std::vector<std::uint32_t>{3, 4, 5}));
  EXPECT_EQ(r.capabilities, (std::vector<std::string>{"CAP_KILL", "CAP_CHOWN"}));
  EXPECT_EQ(r.apparmor, "a");
  EXPECT_EQ(r.process_label, "l");
  EXPECT_EQ(r.cgroup, "x");
  EXPECT_EQ(r.pid_file, "/p");
  EXPECT_EQ(r.preserve_fds, 1);
  EXPECT_TRUE(r.tty && r.detach && r.no_new_privs && r.ignore_paused);
  EXPECT_EQ(make_exec_request(parsed(kExec, {"id", "--", "ls"})).args, std::vector<std::string>{"ls"});
  EXPECT_EQ(make_exec_request(parsed(kExec, {"-p", "/f", "id"})).process_file, "/f");
}

TEST(Request, ExecRefuses) {
  const std::vector<std::vector<std::string>> bad = {{"id"},
                                                     {"id", "--"},
                                                     {"-e", "A", "id", "x"},
                                                     {"-e", "=A", "id", "x"},
                                                     {"-g", "x", "id", "x"},
                                                     {"-g", "4294967295", "id", "x"},
                                                     {"-g", "-1", "id", "x"},
                                                     {"-g", "1,", "id", "x"}};
  for (const auto& words : bad)
    EXPECT_THROW(make_exec_request(parsed(kExec, words)), Error) << words[0] << words.back();
}

runtime::ContainerState state() {
  runtime::ContainerState s;
  s.oci_version = "1.0.2";
  s.id = "web1";
  s.bundle = "/b";
  s.rootfs = "/b/rootfs";
  s.created = "2026-01-02T03:04:05.000000006Z";
  s.owner = "root";
  s.status = runtime::Status::running;
  s.pid = 42;
  return s;
}

TEST(Print, StateHasRuncsKeysInRuncsOrder) {
  runtime::ContainerState s = state();
  EXPECT_EQ(state_json(s, 0),
            R"({"ociVersion":"1.0.2","id":"web1","pid":42,"status":"running","bundle":"/b","rootfs":"/b/rootfs",)"
            R"("created":"2026-01-02T03:04:05.000000006Z","owner":"root"})");
  s.annotations = {{"a", "b\""}};
  EXPECT_NE(state_json(s, 0).find(R"("annotations":{"a":"b\""},"owner")"), std::string::npos);
  EXPECT_EQ(state_json(s, 2).substr(0, 28), "{\n  \"ociVersion\": \"1.0.2\",\n ");
}

TEST(Print, ListJsonIsOneLineAndNullWhereEmpty) {
  EXPECT_EQ(list_json({}), "null");
  const std::vector<runtime::ContainerState> two = {state(), state()};
  const json::Document document(list_json(two), "list");
  const json::Field root = document.root();
  EXPECT_EQ(root.size(), 2U);
  EXPECT_EQ(list_json(two).find('\n'), std::string::npos);
}

TEST(Print, ListTableIsAligned) {
  EXPECT_EQ(list_table({}), "ID          PID         STATUS      BUNDLE      CREATED     OWNER\n");
  runtime::ContainerState s = state();
  s.id = "a-name-longer-than-the-column";
  const std::vector<runtime::ContainerState> one = {s};
  EXPECT_EQ(
      list_table(one),
      "ID                              PID         STATUS      BUNDLE      CREATED                          OWNER\n"
      "a-name-longer-than-the-column   42          running     /b          2026-01-02T03:04:05.000000006Z   root\n");
}

TEST(Print, ListTableCantMoveTheCursor) {
  runtime::ContainerState s = state();
  s.bundle = "/b\033[2J\nx";
  const std::string table = list_table(std::vector<runtime::ContainerState>{s});
  EXPECT_EQ(table.find('\033'), std::string::npos);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);
}

TEST(Print, PsKeepsTheHeaderAndTheWantedLines) {
  const std::vector<pid_t> wanted = {7, 12};
  EXPECT_EQ(ps_table("UID   PID PPID CMD\nroot    7    1 init\nroot    8    1 7 12\nroot   12    7 sh\n", wanted),
            "UID   PID PPID CMD\nroot    7    1 init\nroot   12    7 sh\n");
  EXPECT_EQ(ps_table("  PID CMD\n   12 sh\n  120 x\n", wanted), "  PID CMD\n   12 sh\n");
  EXPECT_THROW(ps_table("USER CMD\nroot x\n", wanted), Error);
}

TEST(Print, VersionStartsAsEnginesExpect) {
  const std::string text = version_text();
  EXPECT_TRUE(text.starts_with("tare version ")) << text;
  EXPECT_NE(text.find("\nspec: 1.3.0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nlibseccomp: 2."), std::string::npos) << text;
}

TEST(Log, LinesAreRuncs) {
  EXPECT_EQ(log_line(LogFormat::text, Level::error, "exec: \"x\": no", "T"),
            "time=\"T\" level=error msg=\"exec: \\\"x\\\": no\"\n");
  const std::string line = log_line(LogFormat::json, Level::warning, "a \"b\"\n", "T");
  EXPECT_EQ(line, "{\"level\":\"warning\",\"msg\":\"a \\\"b\\\"\\n\",\"time\":\"T\"}\n");
}

TEST(Users, PasswdAndGroupLinesThatMakeNoSenseArePassedOver) {
  const auto users = parse_passwd(
      "root:x:0:0:root:/root:/bin/sh\n\nbad\nx:x:-1:0::/:\ny:x:4294967295:0::/:\n:x:1:1::/:\nweb:x:33:34:w:/var/"
      "www:\n");
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[1].name, "web");
  EXPECT_EQ(users[1].uid, 33U);
  EXPECT_EQ(users[1].gid, 34U);
  EXPECT_EQ(users[1].home, "/var/www");
  const auto groups = parse_group("a:x:1:\nb:x:2:u,v\nbad:x:z:\n+\n");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].members, (std::vector<std::string>{"u", "v"}));
}

}  // namespace
}  // namespace tare::cli
