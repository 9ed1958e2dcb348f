#include "lab/model/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "lab/model/file.hpp"

namespace tare::lab {
namespace {

Dataset dataset() {
  Dataset data;
  data.experiment.seed = 18446744073709551615u;  // more than a JSON number can be trusted with
  data.experiment.places = default_places();
  inject(data.experiment.places, "slowed=5%");
  data.experiment.workloads = default_workloads();
  data.experiment.workloads[0].count = 120;
  data.experiment.workloads.push_back({"command", "", {"sh", "-c", "echo \"a b\"\n"}, 1});
  data.experiment.workloads.back().setup = {"a", "b"};
  data.experiment.workloads.back().per_second = true;
  data.experiment.rounds = 6;
  data.experiment.precision = 0.01;
  data.experiment.cpu = 3;
  data.experiment.directory = "/tmp/ü";
  data.machine = R"({"kernel":"6.18"})";
  data.version = "0.1.0";
  return data;
}

TEST(File, GoesThereAndBack) {
  Dataset data = dataset();
  std::string text = run_line(data, "2026-01-01T00:00:00Z");
  const Absence absence{4, 0, "not \"here\""};
  text += absence_line(data.experiment, absence);
  const Sample sample{0, 3, 17, 2, 1, 120, 123456789, 100, 5, 6, 7, 99};
  const Conditions conditions{0, 1.5, 130, 1, 2, -1, 12'000'000, 3, 400, 5};
  text += conditions_line(conditions);
  text += R"({"record":"worker","launch":0,"place":"bare"})"
          "\n";
  text += R"({"record":"worker","launch":0,"place":"bare","seen":{"Speculation_Store_Bypass":"vulnerable"}})"
          "\n";
  text += sample_line(data.experiment, sample);
  text += warning_line("only one CPU");
  text += launch_end_line(0);
  text += end_line("time");
  const Dataset back = parse_samples(text);
  EXPECT_EQ(back.experiment, data.experiment);
  ASSERT_EQ(back.samples.size(), 1u);
  EXPECT_EQ(back.samples[0], sample);
  ASSERT_EQ(back.absences.size(), 1u);
  EXPECT_EQ(back.absences[0], absence);
  EXPECT_EQ(back.conditions, std::vector<Conditions>{conditions});
  EXPECT_EQ(back.speculation, (std::vector<Speculation>{{0, "vulnerable", ""}}));
  EXPECT_EQ(back.launches, 1);
  EXPECT_EQ(back.ended, "time");
  EXPECT_EQ(back.warnings, std::vector<std::string>{"only one CPU"});
  EXPECT_EQ(back.version, "0.1.0");
  EXPECT_EQ(nlohmann::json::parse(back.machine)["kernel"], "6.18");
}

TEST(File, ACutOffLastLineIsPassedOver) {
  const Dataset data = dataset();
  const Sample sample{0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0};
  const std::string whole = run_line(data, "") + sample_line(data.experiment, sample) + launch_end_line(0);
  const std::string last = sample_line(data.experiment, sample);
  for (std::size_t n = 0; n < last.size(); ++n) {
    const Dataset back = parse_samples(whole + last.substr(0, n));
    EXPECT_EQ(back.samples.size(), 1u) << n;
    EXPECT_EQ(back.launches, 1);
  }
  EXPECT_EQ(parse_samples(whole + last).samples.size(), 2u);
}

TEST(File, ARunThatWasGoneOnWithCountsEachLaunchOnce) {
  const Experiment& e = dataset().experiment;
  const auto sample = [&](int launch, std::int64_t ns) {
    Sample s{launch, 0, 0, 0, 0, 1, ns, 1, 0, 0, 0, 0};
    return sample_line(e, s);
  };
  const auto look = [](int launch, double load) { return conditions_line({.launch = launch, .load = load}); };
  const std::string text = run_line(dataset(), "") + look(0, 1) + sample(0, 10) + launch_end_line(0) + look(1, 2) +
                           sample(1, 11) + look(1, 3) + end_line("interrupted") + continued_line(1, "") + look(1, 4) +
                           sample(1, 12) + launch_end_line(1);
  const Dataset back = parse_samples(text);
  ASSERT_EQ(back.samples.size(), 2u);
  EXPECT_EQ(back.samples[0].wall_ns, 10);
  EXPECT_EQ(back.samples[1].wall_ns, 12);
  ASSERT_EQ(back.conditions.size(), 2u);
  EXPECT_EQ(back.conditions[1].load, 4);
  EXPECT_EQ(back.launches, 2);
  EXPECT_EQ(back.ended, "");
}

std::string error_of(const std::string& text) {
  try {
    parse_samples(text);
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

TEST(File, WhatCantBeReadIsNamedWithItsLine) {
  const std::string head = run_line(dataset(), "");
  EXPECT_NE(error_of(head + "{\n").find("line 2"), std::string::npos);
  EXPECT_NE(error_of(head + "{\"record\":\"sample\"}\n").find("line 2"), std::string::npos);
  EXPECT_NE(error_of(head + "\n").find("line 2"), std::string::npos);
  EXPECT_NE(error_of("{\"record\":\"sample\"}\n").find("line 1"), std::string::npos);
  EXPECT_NE(error_of("").find("empty"), std::string::npos);
  std::string other = head;
  other.replace(other.find("\"schema\":2"), 10, "\"schema\":9");
  EXPECT_NE(error_of(other).find("schema 9"), std::string::npos);
  const Sample bad{0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0};
  EXPECT_NE(error_of(head + sample_line(dataset().experiment, bad)).find("above 0"), std::string::npos);
}

TEST(Places, BareAndItsControlAreAlwaysThere) {
  const auto places = named_places({"pid", "user", "pid"});
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0].role, Role::reference);
  EXPECT_EQ(places[1].role, Role::control);
  EXPECT_EQ(places[1].kind, PlaceKind::bare);
  EXPECT_EQ(places[2].namespaces, std::vector<std::string>{"pid"});
  EXPECT_EQ(default_places().size(), 11u);
  EXPECT_THROW(named_places({"pidd"}), Error);
  EXPECT_THROW(named_workloads({"spawn", ""}), Error);
}

TEST(Workloads, TheDefaultOnesStayTheFive) {
  std::vector<std::string> names;
  for (const Workload& w : default_workloads()) names.push_back(w.name);
  EXPECT_EQ(names, (std::vector<std::string>{"spawn", "exec", "syscall", "pipe", "open"}));
}

TEST(Workloads, GroupsStandForTheirMembersNoneTwice) {
  const auto all = named_workloads({"all"});
  EXPECT_GE(all.size(), 40u);
  const auto twice = named_workloads({"all", "unixbench", "network", "files", "ipc", "spawn", "all"});
  EXPECT_EQ(twice, all);
  EXPECT_EQ(named_workloads({"unixbench"}).size(), 11u);
  const auto files = named_workloads({"files"});
  EXPECT_EQ(files.size(), named_workloads({"copies"}).size() + named_workloads({"paths"}).size());
  const auto mixed = named_workloads({"uname", "cpu"});
  ASSERT_EQ(mixed.size(), 3u);
  EXPECT_EQ(mixed[0].name, "uname");
  EXPECT_EQ(mixed[1].name, "cpu-int");
}

TEST(Workloads, EachSaysItsUnitAndWhatItIs) {
  for (const Workload& w : named_workloads({"all"})) {
    EXPECT_FALSE(w.describes.empty()) << w.name;
    EXPECT_NE(w.unit, "operation") << w.name;
    for (std::size_t i = 0; i < w.enters.size(); ++i) {
      EXPECT_EQ(std::count(w.enters.begin(), w.enters.end(), w.enters[i]), 1) << w.name << " " << w.enters[i];
    }
  }
  // Each namespace has a workload that goes there: docs/METHOD.md.
  for (const char* name : {"pid", "mnt", "uts", "ipc", "net", "user", "cgroup", "time", "seccomp", "limits"}) {
    const auto all = named_workloads({"all"});
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Workload& w) {
      return std::find(w.enters.begin(), w.enters.end(), name) != w.enters.end();
    })) << name;
  }
  // And there is one that goes nowhere.
  EXPECT_TRUE(named_workloads({"cpu-int"})[0].enters.empty());
}

TEST(Workloads, ThoseOfTheHostRunTareAndAreNotAmongAll) {
  for (const Workload& w : named_workloads({"host"})) {
    ASSERT_FALSE(w.command.empty());
    EXPECT_EQ(w.command[0], "{tare}");
    for (const Workload& other : named_workloads({"all"})) EXPECT_NE(other.name, w.name);
    EXPECT_EQ(w.setup.empty(), w.cleanup.empty()) << w.name;
  }
  EXPECT_EQ(named_workloads({"container-start"}).size(), 1u);
}

TEST(Workloads, AnUnknownOneIsToldWithTheGroups) {
  try {
    named_workloads({"spwan"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "no workload is called \"spwan\"");
    EXPECT_NE(error.hint().find("known: spawn"), std::string::npos);
    EXPECT_NE(error.hint().find("groups: all, unixbench, files, host, processes"), std::string::npos);
  }
}

TEST(Inject, AddsAPlaceOrSlowsOne) {
  auto places = default_places();
  inject(places, "slowed=5%");
  EXPECT_EQ(places.back().name, "slowed");
  EXPECT_EQ(places.back().kind, PlaceKind::bare);
  EXPECT_EQ(places.back().delay, 500);
  inject(places, "pid=0.5");
  EXPECT_EQ(places[2].delay, 50);
  EXPECT_EQ(places.size(), 12u);
  for (const char* wrong :
       {"slowed", "=5%", "x=", "x=%", "x=-1%", "x=5%%", "x=a", "x=nan", "x=2000%", "bare=5%", "A/A=1%"}) {
    EXPECT_THROW(inject(places, wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace tare::lab
