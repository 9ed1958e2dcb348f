#include "lab/design/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tare::lab {
namespace {

Experiment experiment(int places, int workloads, int rounds) {
  Experiment e;
  e.seed = 42;
  e.rounds = rounds;
  for (int i = 0; i < places; ++i) e.places.push_back({"p" + std::to_string(i), Role::subject, PlaceKind::bare, {}, 0});
  for (int i = 0; i < workloads; ++i) e.workloads.push_back({"w" + std::to_string(i), "", {}, 0});
  return e;
}

// position[round][place] among the places of one workload.
std::vector<std::vector<int>> positions(const Experiment& e, const LaunchSchedule& s, int workload) {
  std::vector<std::vector<int>> out(static_cast<std::size_t>(e.rounds), std::vector<int>(e.places.size(), -1));
  std::vector<int> next(static_cast<std::size_t>(e.rounds), 0);
  for (const Slot& slot : s.slots) {
    if (slot.workload != workload || !slot.counted) continue;
    out[static_cast<std::size_t>(slot.round)][static_cast<std::size_t>(slot.place)] =
        next[static_cast<std::size_t>(slot.round)]++;
  }
  return out;
}

TEST(Schedule, EachCellComesOnceARound) {
  for (const int places : {1, 2, 3, 11}) {
    const Experiment e = experiment(places, 3, 6);
    const LaunchSchedule s = schedule(e, 0);
    std::map<std::tuple<int, int, int>, int> seen;
    for (const Slot& slot : s.slots) seen[{slot.round, slot.workload, slot.place}] += slot.counted;
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(places * 3 * 6));
    for (const auto& [cell, times] : seen) EXPECT_EQ(times, 1);
    std::set<int> started(s.start_order.begin(), s.start_order.end());
    EXPECT_EQ(started.size(), static_cast<std::size_t>(places));
  }
}

TEST(Schedule, RoundsFollowEachOtherAndAWorkloadsPlacesStayTogether) {
  const Experiment e = experiment(5, 4, 4);
  const LaunchSchedule s = schedule(e, 3);
  for (std::size_t i = 1; i < s.slots.size(); ++i) EXPECT_LE(s.slots[i - 1].round, s.slots[i].round);
  ASSERT_EQ(s.slots.size(), 4u * 4 * 6);
  for (std::size_t block = 0; block < s.slots.size(); block += 6) {
    // The lead-in, by the place that comes last.
    EXPECT_FALSE(s.slots[block].counted);
    EXPECT_EQ(s.slots[block].place, s.slots[block + 5].place);
    for (std::size_t i = 1; i < 6; ++i) {
      EXPECT_TRUE(s.slots[block + i].counted);
      EXPECT_EQ(s.slots[block].workload, s.slots[block + i].workload);
    }
  }
}

// What drifts evenly weighs on every place alike: over a pair of rounds, positions in the whole
// launch add up to the same for every place.
TEST(Schedule, PairsOfRoundsAreMirrorImages) {
  const Experiment e = experiment(7, 3, 6);
  for (int launch = 0; launch < 20; ++launch) {
    const LaunchSchedule s = schedule(e, launch);
    for (int pair = 0; pair < 3; ++pair) {
      std::map<std::pair<int, int>, long> sums;
      for (std::size_t i = 0; i < s.slots.size(); ++i) {
        if (s.slots[i].round / 2 == pair && s.slots[i].counted)
          sums[{s.slots[i].workload, s.slots[i].place}] += static_cast<long>(i);
      }
      std::set<long> distinct;
      for (const auto& [cell, sum] : sums) distinct.insert(sum);
      EXPECT_EQ(distinct.size(), 1u) << "launch " << launch << " pair " << pair;
    }
  }
}

TEST(Schedule, PairsAreRotatedAgainstEachOther) {
  const Experiment e = experiment(11, 1, 4);
  const LaunchSchedule s = schedule(e, 0);
  const auto p = positions(e, s, 0);
  for (std::size_t place = 0; place < 11; ++place) EXPECT_NE(p[0][place], p[2][place]);
}

TEST(Schedule, EveryPlaceComesToEveryPositionEquallyOftenOverLaunches) {
  const Experiment e = experiment(5, 1, 2);
  std::map<std::pair<int, int>, int> seen;
  const int launches = 5000;
  for (int launch = 0; launch < launches; ++launch) {
    const LaunchSchedule s = schedule(e, launch);
    for (int i = 0; i < 5; ++i) ++seen[{s.slots[static_cast<std::size_t>(i) + 1].place, i}];
  }
  ASSERT_EQ(seen.size(), 25u);
  for (const auto& [key, count] : seen) EXPECT_NEAR(count, 1000, 145);  // 5 standard deviations
}

TEST(Schedule, TheSeedAloneDecides) {
  Experiment e = experiment(11, 5, 4);
  const LaunchSchedule a = schedule(e, 7);
  (void)schedule(e, 3);
  const LaunchSchedule b = schedule(e, 7);
  EXPECT_EQ(a.slots, b.slots);
  EXPECT_EQ(a.start_order, b.start_order);
  EXPECT_NE(schedule(e, 8).slots, a.slots);
  e.seed = 43;
  EXPECT_NE(schedule(e, 7).slots, a.slots);
}

TEST(Budget, CountsLaunches) {
  Experiment e = experiment(10, 2, 4);
  e.batch_ns = 10'000'000;
  e.time_ns = 60'000'000'000;
  // A launch: 10 places x (20 ms start + 2 x (40 ms + 2.5 ms)), and 2 x 4 lead-ins.
  const Budget b = budget(e, 20'000'000, {});
  EXPECT_EQ(b.launch_ns, 10 * (20'000'000 + 85'000'000) + 80'000'000);
  EXPECT_EQ(b.launches, 53);
  EXPECT_EQ(b.least_ns, 6 * b.launch_ns);
}

TEST(Budget, ASlowCommandSetsTheBatch) {
  Experiment e = experiment(2, 1, 2);
  const Budget b = budget(e, 0, {1'000'000'000});
  EXPECT_EQ(b.launch_ns, 2 * 3'000'000'000 + 2'000'000'000);
}

TEST(Budget, BatchCountIsAtLeastOne) {
  EXPECT_EQ(batch_count(10'000'000, 100.0), 100'000);
  EXPECT_EQ(batch_count(10'000'000, 1e12), 1);
  EXPECT_EQ(batch_count(10'000'000, 0), 1);
}

}  // namespace
}  // namespace tare::lab
