// The commands: argv -> a request -> one call of the runtime -> what is printed, and an exit status.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "cli/option.hpp"
#include "cli/report.hpp"
#include "runtime/runtime.hpp"

namespace tare::cli {

// What holds for every command.
struct Session {
  runtime::Context context;
  Reporter& reporter;

  void warn(const runtime::Warnings& warnings) const {
    for (const std::string& w : warnings) reporter.warning(w);
  }
};

struct Entry {
  const Command* command;
  int (*run)(const Session& session, const Parsed& parsed);
  int own_failure;  // the exit status for an error of tare's own
};

std::span<const Entry> entries();
std::span<const Option> global_options();

extern const Command kCreate, kRun, kStart, kState, kKill, kDelete, kExec, kList, kPs, kPause, kResume, kUpdate,
    kEvents, kSpec, kFeatures, kBox, kWeigh, kPid, kTree, kTop, kEnter;

int do_create(const Session& session, const Parsed& parsed);
int do_run(const Session& session, const Parsed& parsed);
int do_start(const Session& session, const Parsed& parsed);
int do_kill(const Session& session, const Parsed& parsed);
int do_delete(const Session& session, const Parsed& parsed);
int do_pause(const Session& session, const Parsed& parsed);
int do_resume(const Session& session, const Parsed& parsed);
int do_update(const Session& session, const Parsed& parsed);
int do_events(const Session& session, const Parsed& parsed);
int do_exec(const Session& session, const Parsed& parsed);
int do_state(const Session& session, const Parsed& parsed);
int do_list(const Session& session, const Parsed& parsed);
int do_ps(const Session& session, const Parsed& parsed);
int do_spec(const Session& session, const Parsed& parsed);
int do_features(const Session& session, const Parsed& parsed);
int do_box(const Session& session, const Parsed& parsed);
int do_weigh(const Session& session, const Parsed& parsed);
int do_pid(const Session& session, const Parsed& parsed);
int do_tree(const Session& session, const Parsed& parsed);
int do_top(const Session& session, const Parsed& parsed);
int do_enter(const Session& session, const Parsed& parsed);

// Requests, made of a parsed command line without any call: for tests.
runtime::RunRequest make_run_request(const Parsed& parsed);  // of create, too
runtime::ExecRequest make_exec_request(const Parsed& parsed);

// The limits that the options ask for.
oci::Resources make_update(const Parsed& parsed);
// "512m", "2GiB", "-1" as bytes, units being powers of 1024; "1m30s", "1.5s" as milliseconds, at least 1. Throw kind
// usage.
std::int64_t parse_bytes(std::string_view text, std::string_view option);
std::chrono::milliseconds parse_duration(std::string_view text, std::string_view option);

// What is printed, as text.
std::string event_json(std::string_view id, const runtime::Event& event);
std::string state_json(const runtime::ContainerState& state, int indent);
std::string list_json(std::span<const runtime::ContainerState> states);
std::string list_table(std::span<const runtime::ContainerState> states);
// The lines of ps(1)'s output whose PID is wanted, below its header. Throws kind kernel where there is no PID column.
std::string ps_table(std::string_view ps_output, std::span<const pid_t> wanted);
std::string version_text();

// The folder that this binary lies in. Not for verbs that start containers: those run from a detached copy of it
// (launch/self.hpp), which lies nowhere.
std::string own_folder();

// 127 where the program isn't there, 126 where it can't be executed, 125 for every other failure.
int box_status(const Error& error);

// All of tare: parses, runs, reports, and gives the exit status.
int main_of(int argc, char** argv);

}  // namespace tare::cli
