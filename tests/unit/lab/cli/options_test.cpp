#include "lab/cli/options.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"

namespace tare::lab {
namespace {

TEST(Options, Defaults) {
  const Options o = parse_options({});
  EXPECT_EQ(o.experiment.places.size(), 11u);
  EXPECT_EQ(o.experiment.workloads.size(), 5u);
  EXPECT_EQ(o.experiment.time_ns, 60'000'000'000);
  EXPECT_FALSE(o.seed_given);
}

TEST(Options, AllOfThem) {
  const Options o = parse_options(
      {"--time=5m", "--precision", "1%",       "--seed",  "12",       "--places", "pid, user", "--workloads=syscall",
       "--inject",  "slowed=5%",   "--rounds", "6",       "--batch",  "20ms",     "--cpu",     "1",
       "--json",    "-",           "-o",       "x.jsonl", "--dry-run"});
  EXPECT_EQ(o.experiment.time_ns, 300'000'000'000);
  EXPECT_NEAR(o.experiment.precision, std::log(1.01), 1e-12);
  EXPECT_EQ(o.experiment.seed, 12u);
  EXPECT_TRUE(o.seed_given);
  ASSERT_EQ(o.experiment.places.size(), 5u);
  EXPECT_EQ(o.experiment.places[4].delay, 500);
  EXPECT_EQ(o.experiment.workloads.size(), 1u);
  EXPECT_EQ(o.experiment.rounds, 6);
  EXPECT_EQ(o.experiment.batch_ns, 20'000'000);
  EXPECT_EQ(o.experiment.cpu, 1);
  ASSERT_EQ(o.forms.size(), 1u);
  EXPECT_EQ(o.forms[0].name, "json");
  EXPECT_EQ(o.forms[0].file, "-");
  EXPECT_EQ(o.samples, "x.jsonl");
  EXPECT_TRUE(o.dry_run);
}

TEST(Options, AReportInManyForms) {
  const Options o = parse_options({"analyse", "x", "--html", "a", "--csv=b", "--markdown", "-", "--details"});
  ASSERT_EQ(o.forms.size(), 3u);
  EXPECT_EQ(o.forms[0].name + o.forms[1].name + o.forms[2].name, "htmlcsvmarkdown");
  EXPECT_EQ(o.forms[0].file + o.forms[1].file + o.forms[2].file, "ab-");
  EXPECT_TRUE(o.details);
  EXPECT_FALSE(parse_options({}).details);
}

TEST(Options, WhatBelongsToTheVerdict) {
  const Options o = parse_options({"--margin", "3%", "--fail-above=5%"});
  EXPECT_NEAR(o.experiment.margin, std::log(1.03), 1e-12);
  EXPECT_NEAR(o.fail_above, std::log(1.05), 1e-12);
  EXPECT_EQ(parse_options({}).experiment.margin, 0);
  EXPECT_EQ(parse_options({}).fail_above, 0);
}

TEST(Options, TheBillHasItsOwnPlacesAndTime) {
  const Options o = parse_options({"--bill"});
  EXPECT_TRUE(o.experiment.bill);
  EXPECT_EQ(o.experiment.places, bill_places());
  EXPECT_LE(o.experiment.time_ns, 600'000'000'000);
  EXPECT_EQ(parse_options({"--bill", "--time", "20"}).experiment.time_ns, 20'000'000'000);
}

TEST(Options, ARunIsGoneOnWithAsItWas) {
  EXPECT_EQ(parse_options({"--continue", "x.jsonl", "--time", "90"}).go_on, "x.jsonl");
  EXPECT_THROW(parse_options({"--continue", "x.jsonl", "--places", "pid"}), Error);
  EXPECT_THROW(parse_options({"--continue", "x.jsonl", "--seed", "3"}), Error);
}

TEST(Options, AnalyseTakesSeveralFiles) {
  EXPECT_EQ(parse_options({"analyse", "a", "b", "--json", "-"}).analyse, (std::vector<std::string>{"a", "b"}));
}

TEST(Options, TheCommandsCompanyComesInOrder) {
  const Options o = parse_options({"--setup", "a", "--prepare=b", "--prepare", "c", "--cleanup", "d", "--", "make"});
  const Workload& w = o.experiment.workloads[0];
  EXPECT_EQ(w.setup, std::vector<std::string>{"a"});
  EXPECT_EQ(w.prepare, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(w.cleanup, std::vector<std::string>{"d"});
  EXPECT_THROW(parse_options({"--setup", "a"}), Error);
}

TEST(Options, ACommandIsTakenAsItIs) {
  const Options o = parse_options({"--quick", "--", "make", "--time", "-j2"});
  ASSERT_EQ(o.experiment.workloads.size(), 1u);
  EXPECT_EQ(o.experiment.workloads[0].command, (std::vector<std::string>{"make", "--time", "-j2"}));
  EXPECT_LE(o.experiment.time_ns, 60'000'000'000);
}

TEST(Options, TimeOverrulesQuickInEitherOrder) {
  EXPECT_EQ(parse_options({"--quick", "--time", "90"}).experiment.time_ns, 90'000'000'000);
  EXPECT_EQ(parse_options({"--time", "90", "--quick"}).experiment.time_ns, 90'000'000'000);
}

TEST(Options, WrongOnesAreRefused) {
  const std::vector<std::vector<std::string>> wrong = {{"--tim", "5"},
                                                       {"--time"},
                                                       {"--time", "0"},
                                                       {"--time", "5x"},
                                                       {"--time", "-5"},
                                                       {"--precision", "x"},
                                                       {"--precision", "1ms"},
                                                       {"--seed", "-1"},
                                                       {"--seed", "1.5"},
                                                       {"--places", "nowhere"},
                                                       {"--workloads", ""},
                                                       {"--rounds", "3"},
                                                       {"--rounds", "0"},
                                                       {"--inject", "x"},
                                                       {"--quick=yes"},
                                                       {"--"},
                                                       {"make"},
                                                       {"--workloads", "spawn", "--", "true"},
                                                       {"analyse"},
                                                       {"--cpu", "-2"},
                                                       {"--margin", "x"},
                                                       {"--fail-above", "-1%"},
                                                       {"--bill", "--places", "pid"}};
  for (const auto& args : wrong) EXPECT_THROW(parse_options(args), Error) << args[0];
}

TEST(Options, Durations) {
  EXPECT_EQ(parse_duration("90"), 90'000'000'000);
  EXPECT_EQ(parse_duration("90s"), 90'000'000'000);
  EXPECT_EQ(parse_duration("1.5m"), 90'000'000'000);
  EXPECT_EQ(parse_duration("2h"), 7'200'000'000'000);
  EXPECT_EQ(parse_duration("10ms"), 10'000'000);
}

}  // namespace
}  // namespace tare::lab
