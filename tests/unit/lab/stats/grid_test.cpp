#include "lab/stats/grid.hpp"

#include <gtest/gtest.h>

#include "exact.hpp"
#include "lab/stats/analysis.hpp"
#include "lab/stats/interval.hpp"

namespace tare::lab {
namespace {

TEST(Grid, HoldsWhatWasMeasuredAndNothingElse) {
  Dataset data = exact({{0.1, 0.2}, {0.3, 0.4}, {0.5, 0.6}}, 2);
  data.samples[0].cpu_ns = 0;
  Sample stray = data.samples[0];
  for (const auto& [launch, round, workload] : {std::tuple{2, 0, 0}, {-1, 0, 0}, {0, 2, 0}, {0, -1, 0}, {0, 0, 1}}) {
    stray.launch = launch;
    stray.round = round;
    stray.workload = workload;
    stray.wall_ns = 1;
    data.samples.push_back(stray);
  }
  const Grid wall(data, 0, false), cpu(data, 0, true);
  EXPECT_EQ(wall.launches(), 2);
  EXPECT_EQ(wall.rounds(), 2);
  for (int place = 0; place < 3; ++place) {
    for (int launch = 0; launch < 2; ++launch) {
      for (int round = 0; round < 2; ++round) {
        EXPECT_NEAR(wall.value(place, launch, round), std::log(1e6) + 0.1 + 0.2 * place + 0.1 * launch, 1e-8);
      }
    }
  }
  EXPECT_TRUE(std::isnan(cpu.value(0, 0, 0)));
  EXPECT_FALSE(std::isnan(cpu.value(0, 0, 1)));
}

TEST(Grid, DivisorsAreThePlaceNamedOrTheReferences) {
  Experiment e = exact({{0}, {0}, {0}, {0}}).experiment;
  EXPECT_EQ(divisors(e, 2), std::vector<int>{0});
  e.places[3].against = "p2";
  EXPECT_EQ(divisors(e, 3), std::vector<int>{2});
  EXPECT_EQ(divisors(e, 2), std::vector<int>{0});
  e.places[3].against = "bare";
  EXPECT_EQ(divisors(e, 3), std::vector<int>{0});
  e.places[3].against = "nobody";
  EXPECT_EQ(divisors(e, 3), std::vector<int>{0});
  e.places[1].role = Role::reference;
  EXPECT_EQ(divisors(e, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(places_with(e, Role::subject), (std::vector<int>{2, 3}));
  // A place without a name is nobody's divisor.
  e.places[2].name = "";
  e.places[3].against = "";
  EXPECT_EQ(divisors(e, 3), (std::vector<int>{0, 1}));
}

TEST(Grid, AMissingRoundTakesItsPairWithIt) {
  Dataset data = exact({{0, 0, 0}, {0, 0, 0}, {0.1, 0.2, 0.3}}, 2);
  std::erase_if(data.samples, [](const Sample& s) {
    return (s.place == 0 && s.launch == 1 && s.round == 0) || (s.place == 2 && s.launch == 2);
  });
  const Grid grid(data, 0, false);
  EXPECT_EQ(round_values(grid, {0}, 2, 0).size(), 2u);
  EXPECT_EQ(round_values(grid, {0}, 2, 1).size(), 1u);
  EXPECT_TRUE(round_values(grid, {0}, 2, 2).empty());
  const std::vector<double> values = launch_values(grid, {0}, 2);
  ASSERT_EQ(values.size(), 3u);
  EXPECT_NEAR(values[0], 0.1, 1e-8);
  EXPECT_NEAR(values[1], 0.2, 1e-8);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(present(values).size(), 2u);
  EXPECT_NEAR(reference_value(grid, {0, 2}, 0, 0), std::log(1e6) + 0.05, 1e-8);
  EXPECT_TRUE(std::isnan(reference_value(grid, {0, 2}, 1, 0)));
}

TEST(Grid, AnAbsenceIsOfAPlaceOrOfAWorkloadInIt) {
  Dataset data;
  data.absences = {{2, 1, "one"}, {3, -1, "all"}};
  EXPECT_EQ(absence_of(data, 2, 0), nullptr);
  ASSERT_NE(absence_of(data, 2, 1), nullptr);
  EXPECT_EQ(absence_of(data, 2, 1)->reason, "one");
  EXPECT_EQ(absence_of(data, 2, 2), nullptr);
  EXPECT_NE(absence_of(data, 3, 0), nullptr);
  EXPECT_NE(absence_of(data, 3, 5), nullptr);
  EXPECT_EQ(absence_of(data, 1, 1), nullptr);
  data.absences = {{2, 0, "first"}};
  EXPECT_NE(absence_of(data, 2, 0), nullptr);
  EXPECT_EQ(absence_of(data, 2, 1), nullptr);
}

TEST(Table, TheReferencesFiguresAreItsOwn) {
  Dataset data = exact({{0.0, 0.1, 0.2, 0.3, 0.4, 0.5}, std::vector<double>(6, 0.0)}, 2);
  for (Sample& s : data.samples) {
    if (s.place == 0 && s.round == 1) s.wall_ns = std::llround(static_cast<double>(s.wall_ns) * std::exp(0.02));
  }
  Table t = analyse(data).tables[0];
  ASSERT_EQ(t.reference_series.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(t.reference_series[i], std::log(1e6) + 0.01 + 0.1 * static_cast<double>(i), 1e-8);
  EXPECT_NEAR(std::log(t.reference_ns), std::log(1e6) + 0.26,
              1e-8);                // twelve batches: between the sixth and the seventh
  EXPECT_NEAR(t.drift, 0.4, 1e-8);  // two launches at either end
  // Five launches are too few to speak of drift; a missing one is passed over.
  data.launches = 5;
  EXPECT_EQ(analyse(data).tables[0].drift, 0);
  data.launches = 6;
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 0 && s.launch == 0 && s.round == 0; });
  t = analyse(data).tables[0];
  EXPECT_NEAR(t.reference_series[0], std::log(1e6) + 0.02, 1e-8);
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 0 && s.launch == 0; });
  t = analyse(data).tables[0];
  EXPECT_TRUE(std::isnan(t.reference_series[0]));
  EXPECT_EQ(t.drift, 0);
}

TEST(PerOperation, EachFigureIsItsOwnAndUnknownStaysUnknown) {
  Dataset data = exact({{0, 0}, {0, 0}, {0, 0}}, 2);
  for (Sample& s : data.samples) {
    const bool x = s.place == 2;
    s.cpu_ns = x ? 5000 : 1000;
    s.cgroup_cpu_ns = x ? 6000 : 1000;
    s.faults = x ? 2000 : 1000;
    s.voluntary = x ? 3000 : 0;
    s.involuntary = x ? 1000 : 0;
    s.instructions = x ? 7000 : 1000;
    s.cycles = x ? 0 : -1;
    s.peak_bytes = x ? 4096 * (1 + s.launch) : -1;
  }
  Sample stray = data.samples.back();  // of a launch that never ended, and of another workload
  stray.launch = 2;
  stray.faults = 1'000'000;
  stray.peak_bytes = 1 << 30;
  data.samples.push_back(stray);
  stray.launch = 0;
  stray.workload = 1;
  data.samples.push_back(stray);
  const Analysis a = analyse(data);
  const PerOperation p = a.tables[0].cells[1].per_operation, aa = a.tables[0].cells[0].per_operation;
  EXPECT_DOUBLE_EQ(p.cpu_ns, 5);
  EXPECT_DOUBLE_EQ(p.cgroup_cpu_ns, 6);
  EXPECT_DOUBLE_EQ(p.faults, 2);
  EXPECT_DOUBLE_EQ(p.switches, 4);
  EXPECT_DOUBLE_EQ(p.instructions, 7);
  EXPECT_DOUBLE_EQ(p.cycles, 0);  // counted, and none: known
  EXPECT_DOUBLE_EQ(p.peak_bytes, 8192);
  EXPECT_DOUBLE_EQ(aa.cpu_ns, 1);
  EXPECT_TRUE(std::isnan(aa.cycles));
  EXPECT_TRUE(std::isnan(aa.peak_bytes));
  EXPECT_NEAR(a.tables[0].cells[1].cpu_log_ratio, std::log(5), 1e-12);
  // Nothing measured: nothing known.
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 2; });
  EXPECT_TRUE(std::isnan(analyse(data).tables[0].cells[1].per_operation.faults));
  EXPECT_TRUE(std::isnan(analyse(data).tables[0].cells[1].per_operation.peak_bytes));
}

TEST(Outliers, LieBeyondFiveRobustDeviationsAndTheFurthestComesFirst) {
  // Values -1, 0, 1 percent in turn: a median absolute deviation of 1 %, so the limit is 7.4 %.
  std::vector<double> x;
  for (int i = 0; i < 15; ++i) x.push_back(0.01 * (i % 3 - 1));
  x[3] = 0.073;
  x[6] = -0.076;
  x[9] = 0.2;
  Dataset data = exact({std::vector<double>(15, 0.0), spread(0, 0.01, 15), x}, 1);
  const Analysis a = analyse(data);
  ASSERT_EQ(a.outliers.size(), 2u);
  EXPECT_EQ(a.outliers[0].launch, 9);
  EXPECT_NEAR(a.outliers[0].log_ratio, 0.2, 1e-6);
  EXPECT_EQ(a.outliers[0].place, 2);
  EXPECT_EQ(a.outliers[0].workload, 0);
  EXPECT_EQ(a.outliers[1].launch, 6);
  EXPECT_NEAR(a.outliers[1].log_ratio, -0.076, 1e-6);
  EXPECT_EQ(a.outliers[1].round, 0);
  x[12] = -0.3;  // the furthest is the furthest on either side
  data = exact({std::vector<double>(15, 0.0), spread(0, 0.01, 15), x}, 1);
  EXPECT_EQ(analyse(data).outliers[0].launch, 12);
  EXPECT_EQ(analyse(data).outliers[1].launch, 9);
  x[12] = -0.01;
  // Against the cell's own median, wherever that lies, and not against what isn't there.
  for (double& v : x) v += 0.5;
  data = exact({std::vector<double>(15, 0.0), spread(0, 0.01, 15), x}, 1);
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 2 && s.launch == 2; });
  ASSERT_EQ(analyse(data).outliers.size(), 2u);
  EXPECT_NEAR(analyse(data).outliers[0].log_ratio, 0.2, 1e-6);
}

}  // namespace
}  // namespace tare::lab
