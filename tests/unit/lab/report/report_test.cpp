#include "lab/report/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lab/report/words.hpp"

namespace tare::lab {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Dataset dataset() {
  Dataset data;
  data.experiment.seed = 7;
  data.experiment.places = named_places({"pid", "uts", "ipc", "net", "time"});
  data.experiment.workloads = {{"spawn", "fork, exit, wait", {}, 100}};
  data.machine = R"({"kernel":"6.18.44","cpu":{"model":"Some CPU"}})";
  data.version = "9.9";
  data.launches = 20;
  data.experiment.cpu = 1;
  return data;
}

Cell cell(int place, double value, double low, double high, Verdict verdict) {
  Cell c;
  c.place = place;
  c.log_ratio = {std::log1p(value / 100), std::log1p(low / 100), std::log1p(high / 100), 0.95, 20};
  c.family = c.log_ratio;
  c.family.low -= 0.01;
  c.family.high += 0.01;
  c.equivalence = c.log_ratio;
  c.equivalence.low -= 0.005;
  c.equivalence.high += 0.005;
  c.margin = std::log1p(0.02);
  c.verdict = verdict;
  return c;
}

Analysis analysis() {
  Table t;
  t.reference_ns = 77'700;
  t.aa_bound = std::log1p(0.007);
  t.reference_series = {std::log(77e3), std::log(80e3), std::log(78e3)};
  t.cells = {cell(1, 0.1, -0.5, 0.7, Verdict::no_cost), cell(2, 3.1, 2.4, 3.8, Verdict::costs),
             cell(3, -2, -2.5, -1.5, Verdict::saves),   cell(4, 0.3, -0.2, 0.8, Verdict::not_settled),
             cell(5, 1, 0, 0, Verdict::no_interval),    cell(6, 0, 0, 0, Verdict::absent)};
  t.cells[0].control = true;
  t.cells[3].settled_in_ns = 240e9;
  t.cells[4].log_ratio.coverage = t.cells[4].family.coverage = 0;
  t.cells[5].reason = "clone3: operation not permitted";
  Analysis a;
  a.launches = 20;
  a.family = 5;
  a.tables = {t};
  return a;
}

// 100 s, of which some task waited 2 for a CPU; 3 of 1,000 ticks were stolen.
std::vector<Conditions> two_looks() {
  return {{0, 0.5, 130, 5'000'000, 7, -1, 12'000'000, 10, 1'000, 1'000'000'000},
          {1, 2.25, 128, 7'000'000, 7, -1, 14'000'000, 13, 2'000, 101'000'000'000}};
}

TEST(Meanwhile, IsOfWhatRoseBetweenTheLooks) {
  Dataset data = dataset();
  EXPECT_EQ(meanwhile_text(data), "");
  data.conditions = two_looks();
  EXPECT_EQ(
      meanwhile_text(data),
      "The machine meanwhile: load 0.5 to 2.2, 128 to 130 live processes; share of the time in which some task waited "
      "(PSI) for a CPU 2.0 %, for memory 0.0 %; stolen by a hypervisor 0.3 % of CPU time; a grace period of RCU took "
      "14.0 ms (median).\n");
}

TEST(Meanwhile, APauseBetweenTwoPartsOfARunIsNotInIt) {
  Dataset data = dataset();
  data.conditions = two_looks();
  Conditions after = data.conditions[1];  // another boot: the counters begin anew
  after.launch = 2;
  after.cpu_pressure_us = 1'000;
  after.all_ticks = 10;
  after.stolen_ticks = 0;
  data.conditions.push_back(after);
  EXPECT_NEAR(meanwhile(data).cpu_pressure, 0.02, 1e-9);
  EXPECT_NEAR(meanwhile(data).stolen, 0.003, 1e-9);
}

TEST(Meanwhile, SpeculationControlsAreToldWhereTheyDiffer) {
  Dataset data = dataset();
  data.speculation = {{0, "vulnerable", "always enabled"}, {2, "vulnerable", "always enabled"}};
  EXPECT_EQ(
      speculation_text(data),
      "Speculation controls of the workers: store bypass vulnerable, indirect branch always enabled, in all places.\n");
  data.speculation[1].store_bypass = "thread force mitigated";
  data.speculation.push_back(data.speculation[1]);
  EXPECT_EQ(
      speculation_text(data),
      cat("Speculation controls of the workers: store bypass vulnerable, indirect branch always enabled; but in ",
          data.experiment.places[2].name, " store bypass thread force mitigated, indirect branch always enabled.\n"));
}

TEST(TextReport, SaysWhatIsKnownAndNoMore) {
  const std::string text = text_report(dataset(), analysis());
  EXPECT_TRUE(has(text, "seed 7, 20 launches of 4 rounds; Linux 6.18.44 on Some CPU, CPU 1")) << text;
  EXPECT_TRUE(has(text, "holds for all 5 cells together with 95 %")) << text;
  EXPECT_TRUE(has(text, "spawn (fork, exit, wait): 77.7 us each in bare\n")) << text;
  EXPECT_TRUE(has(text, "bare against bare: no cost above 2.0 %: +0.1 % (-1.0 to 1.2; by itself -0.5 to 0.7)\n"))
      << text;
  EXPECT_TRUE(has(text, "  costs 3.1 % (1.4 to 4.8; by itself 2.4 to 3.8)\n")) << text;
  EXPECT_TRUE(has(text, "  saves 2.0 % (0.5 to 3.5; by itself 1.5 to 2.5)\n")) << text;
  EXPECT_TRUE(has(text, "  not settled: about 4 more minutes: +0.3 % (-1.2 to 1.8; by itself -0.2 to 0.8)\n")) << text;
  EXPECT_TRUE(has(text, "  +1.0 %, too few launches for an interval\n")) << text;
  EXPECT_TRUE(has(text, "  not weighed: clone3: operation not permitted\n")) << text;
  EXPECT_TRUE(has(text, "  bare over the run: ▁█▃ (77.0 us to 80.0 us)\n")) << text;
  EXPECT_LT(text.find("A/A"), text.find("pid"));
  EXPECT_FALSE(has(text, " !"));
}

TEST(TextReport, WhatTheWorkDoesNotEnterIsAControl) {
  Analysis a = analysis();
  a.tables[0].cells[1].entry = Entry::no;
  Dataset data = dataset();
  data.evidence = {{0, "pid", "system calls", 12345.6, true, "clone"}, {0, "uts", "system calls", 0, true, ""}};
  const std::string text = text_report(data, a);
  EXPECT_TRUE(has(text, "  control, the work does not enter it: costs 3.1 %")) << text;
  a.tables[0].cells[3].entry = Entry::no;
  EXPECT_TRUE(
      has(text_report(data, a), "  control, the work does not enter it: +0.3 % (-1.2 to 1.8; by itself -0.2 to 0.8)\n"))
      << text_report(data, a);
  EXPECT_TRUE(has(text, "  enters, a second, by system calls: pid 12346\n")) << text;
  EXPECT_TRUE(has(text, "  looked for and never entered: uts\n")) << text;
  EXPECT_TRUE(has(text, "by itself 2.4 to 3.8): whatever that is, it is not the code of what the place adds\n"))
      << text;
  EXPECT_FALSE(has(text, "not known whether"));
  data.evidence.push_back({0, "memory", "call chains", 0, false, ""});
  EXPECT_TRUE(has(text_report(data, a), "  not known whether it enters: memory\n"));
}

TEST(TextReport, WhatCanHardlyBeSettledIsSaid) {
  Analysis a = analysis();
  a.tables[0].cells[3].settled_in_ns = HUGE_VAL;
  EXPECT_TRUE(has(text_report(dataset(), a), "not settled: and hardly to be settled")) << text_report(dataset(), a);
  a.tables[0].cells[3].settled_in_ns = 30e9;
  EXPECT_TRUE(has(text_report(dataset(), a), "about 30 more seconds"));
}

TEST(TextReport, AMarginThatAAHasWidenedIsNamed) {
  Analysis a = analysis();
  EXPECT_FALSE(has(text_report(dataset(), a), "the margin here"));
  a.tables[0].aa_bound = std::log1p(0.031);
  EXPECT_TRUE(has(text_report(dataset(), a),
                  "  the margin here is 3.1 %, which is what A/A shows, and not the 2.0 % stated\n"));
  Dataset strict = dataset();
  strict.experiment.margin = std::log1p(0.05);
  EXPECT_FALSE(has(text_report(strict, a), "the margin here"));
}

TEST(TextReport, SaysWhatWasVariedHeldAndRepeated) {
  const std::string text = text_report(dataset(), analysis());
  for (const char* part :
       {"\nVaried: ", " Held: ", "\nRepeated: 20 launches", "; 4 rounds a launch, of batches of 10.0 ms",
        "\nSure: ", "claims about 5 cells", "\nWhat else it could be: "}) {
    EXPECT_TRUE(has(text, part)) << part << text;
  }
}

TEST(TextReport, TooFewLaunchesForAClaimSaysHowMuchMore) {
  Analysis a = analysis();
  a.tables[0].cells[4].log_ratio = a.tables[0].cells[0].log_ratio;
  a.tables[0].cells[4].settled_in_ns = 40e9;
  EXPECT_TRUE(
      has(text_report(dataset(), a), "  too few launches for a claim: about 40 more seconds: +0.1 % (-0.5 to 0.7)\n"))
      << text_report(dataset(), a);
}

TEST(TextReport, SlopesMeansAndOutliersStandBelow) {
  Analysis a = analysis();
  a.slopes = {{"pid depth", 0, 4, {std::log1p(0.012), std::log1p(0.01), std::log1p(0.014), 0.95, 20}}};
  a.outliers = {{3, 1, 2, 0, std::log1p(0.8)}};
  Estimate mean = a.tables[0].cells[1].log_ratio;
  a.overall = {Estimate{}, Estimate{}, mean, Estimate{}};
  a.common_workloads = {0, 0};
  const std::string text = text_report(dataset(), a);
  EXPECT_TRUE(has(text, "spawn by pid depth: +1.20 % for one more (1.00 to 1.40)\n")) << text;
  EXPECT_TRUE(has(text, "1 batches lie further")) << text;
  EXPECT_TRUE(has(text, "  pid          +3.1 % (2.4 to 3.8)\n")) << text;
  EXPECT_TRUE(has(text, "spawn in pid, launch 3, round 1: +80.0 %\n")) << text;
}

TEST(TextReport, WarnsOfAControlThatDiffersAndOfDrift) {
  Analysis a = analysis();
  a.tables[0].control_differs = true;
  a.tables[0].drift = 0.2;
  const std::string text = text_report(dataset(), a);
  EXPECT_TRUE(has(text, "the A/A interval leaves out zero")) << text;
  EXPECT_TRUE(has(text, "bare drifted by +22.1 %")) << text;
}

TEST(TextReport, EndsWithTheRunsWarnings) {
  Dataset data = dataset();
  data.warnings = {"only one CPU"};
  EXPECT_TRUE(text_report(data, analysis()).ends_with("\n! only one CPU\n"));
  EXPECT_EQ(nlohmann::json::parse(json_report(data, analysis()))["warnings"][0], "only one CPU");
}

TEST(TextReport, TheCommandIsQuotedForATerminal) {
  Dataset data = dataset();
  data.experiment.workloads = {{"command", "", {"sh", "-c", "echo \x1b[2J"}, 1}};
  const std::string text = text_report(data, analysis());
  EXPECT_TRUE(has(text, "command (sh -c \"echo ")) << text;
  EXPECT_FALSE(has(text, "\x1b"));
}

TEST(TextReport, FitsAnEmptyDataset) {
  Dataset data = dataset();
  data.launches = 0;
  EXPECT_NO_THROW(text_report(data, analyse(data)));
  EXPECT_NO_THROW(nlohmann::json::parse(json_report(data, analyse(data))));
}

TEST(JsonReport, CarriesTheSame) {
  const auto j = nlohmann::json::parse(json_report(dataset(), analysis()));
  EXPECT_EQ(j["schema"], kSchema);
  EXPECT_EQ(j["experiment"]["seed"], "7");
  const auto& cells = j["tables"][0]["cells"];
  EXPECT_EQ(cells[1]["place"], "pid");
  EXPECT_EQ(cells[1]["verdict"], "costs");
  EXPECT_EQ(cells[0]["control"], true);
  EXPECT_NEAR(cells[1]["margin_percent"].get<double>(), 2, 1e-9);
  EXPECT_NEAR(cells[3]["settled_in_seconds"].get<double>(), 240, 1e-9);
  EXPECT_FALSE(cells[1].contains("settled_in_seconds"));
  EXPECT_NEAR(cells[1]["time"]["percent"].get<double>(), 3.1, 1e-9);
  EXPECT_NEAR(cells[1]["time"]["low_percent"].get<double>(), 2.4, 1e-9);
  EXPECT_FALSE(cells[4]["time"].contains("low_percent"));
  EXPECT_EQ(cells[5]["reason"], "clone3: operation not permitted");
}

TEST(JsonReport, CarriesTheEvidenceAndTheBill) {
  Dataset data = dataset();
  data.evidence = {{0, "pid", "system calls", 12.5, true, "clone"}, {0, "uts", "call chains", 0, false, ""}};
  auto j = nlohmann::json::parse(json_report(data, analysis()));
  ASSERT_EQ(j["evidence"].size(), 2u);
  EXPECT_EQ(j["evidence"][0]["enters"], "yes");
  EXPECT_EQ(j["evidence"][0]["rate"], 12.5);
  EXPECT_EQ(j["evidence"][1]["layer"], "uts");
  EXPECT_EQ(j["evidence"][1]["enters"], "not known");
  EXPECT_TRUE(j["bills"].empty());
}

TEST(Reports, SameDataSameBytes) {
  EXPECT_EQ(text_report(dataset(), analysis()), text_report(dataset(), analysis()));
  EXPECT_EQ(json_report(dataset(), analysis()), json_report(dataset(), analysis()));
}

TEST(Reports, SeveralMachinesStandSideBySide) {
  std::vector<Group> groups{{"Linux 6.1 on A", dataset(), analysis()}};
  EXPECT_EQ(text_report(groups), text_report(dataset(), analysis()));
  EXPECT_EQ(json_report(groups), json_report(dataset(), analysis()));
  groups.push_back({"Linux 6.18 on A", dataset(), analysis()});
  const std::string text = text_report(groups);
  EXPECT_TRUE(has(text, "== 1: Linux 6.1 on A\n")) << text;
  EXPECT_TRUE(has(text, "\n== 2: Linux 6.18 on A\n")) << text;
  EXPECT_TRUE(has(text, "Not paired")) << text;
  EXPECT_TRUE(has(text, "\nspawn\n  bare: 2 not weighed there\n")) << text;
  const auto j = nlohmann::json::parse(json_report(groups));
  EXPECT_EQ(j["reports"].size(), 2u);
  EXPECT_EQ(j["across"][0]["place"], "bare");
}

TEST(Numbers, Fixed) {
  EXPECT_EQ(fixed(3.14159, 1), "3.1");
  EXPECT_EQ(fixed(3.14159, 1, true), "+3.1");
  EXPECT_EQ(fixed(-0.04, 1), "0.0");
  EXPECT_EQ(fixed(0.04, 1, true), "0.0");
  EXPECT_EQ(fixed(-1.25, 2, true), "-1.25");
  EXPECT_EQ(fixed(std::nan(""), 1), "?");
}

TEST(Numbers, Duration) {
  EXPECT_EQ(duration(111.4), "111 ns");
  EXPECT_EQ(duration(77'700), "77.7 us");
  EXPECT_EQ(duration(1'234'567), "1.23 ms");
  EXPECT_EQ(duration(60e9), "60.0 s");
  EXPECT_EQ(duration(999.7), "1.00 us");
  EXPECT_EQ(duration(std::nan("")), "?");
}

}  // namespace
}  // namespace tare::lab
