// The names of places, what comes along with them, and the set of the bill.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "lab/model/model.hpp"

namespace tare::lab {
namespace {

std::vector<std::string> names(const std::vector<Place>& places) {
  std::vector<std::string> out;
  for (const Place& p : places) out.push_back(p.name);
  return out;
}

const Place& find(const std::vector<Place>& places, const std::string& name) {
  const auto at = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.name == name; });
  if (at == places.end()) throw Error(ErrorKind::bug, name + " is not there");
  return *at;
}

TEST(Places, WhatAPlaceIsComparedToComesBeforeIt) {
  EXPECT_EQ(names(named_places({"masked"})),
            (std::vector<std::string>{"bare", "A/A", "mnt", "overlay", "mounts", "masked"}));
  EXPECT_EQ(names(named_places({"veth", "net"})), (std::vector<std::string>{"bare", "A/A", "net", "veth"}));
  EXPECT_EQ(names(named_places({"crun"})), (std::vector<std::string>{"bare", "A/A", "bare+1", "crun"}));
}

TEST(Places, AGroupStandsForItsMembersAndNothingIsThereTwice) {
  const auto depths = names(named_places({"pid-depth", "pid-4"}));
  EXPECT_EQ(depths, (std::vector<std::string>{"bare", "A/A", "bare+2", "pid-1", "pid-2", "pid-4", "pid-8", "pid-16",
                                              "pid-31"}));
  for (const char* group : {"default", "namespaces", "layers", "user-depth", "siblings", "foreign", "all"}) {
    const auto all = names(named_places({group}));
    EXPECT_GT(all.size(), 5U) << group;
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << group;
  }
}

TEST(Places, EveryPlaceIsComparedToOneWithAsManyForksOrToTheOneItStandsUpon) {
  const auto all = named_places({"all"});
  for (const Place& p : all) {
    if (p.against.empty()) continue;
    const Place& base = find(all, p.against);
    EXPECT_EQ(p.forks, base.forks) << p.name;
    EXPECT_EQ(p.kind == PlaceKind::nested || p.kind == PlaceKind::foreign, base.kind == PlaceKind::bare) << p.name;
    // What the base has of namespaces, this has too.
    if (base.kind == PlaceKind::layer || base.kind == PlaceKind::namespaces) {
      EXPECT_EQ(p.namespaces, base.namespaces) << p.name;
    }
  }
  // Nothing else has more forks than bare.
  for (const Place& p : all) {
    if (p.forks != 0) {
      EXPECT_TRUE(p.kind == PlaceKind::bare || !p.against.empty()) << p.name;
    }
  }
}

TEST(Places, PlacesOfAnAxisHaveAmountsOfTheirOwn) {
  std::set<std::pair<std::string, std::int64_t>> seen;
  for (const Place& p : named_places({"all"})) {
    if (!p.axis.empty()) {
      EXPECT_TRUE(seen.insert({p.axis, p.amount}).second) << p.name;
    }
  }
  EXPECT_TRUE(seen.contains({"pid depth", 31}));
  EXPECT_TRUE(seen.contains({"seccomp rules", 400}));
}

TEST(Places, TheBillHasItsItemsAndTheWhole) {
  const auto bill = bill_places();
  int subjects = 0, items = 0;
  for (const Place& p : bill) {
    subjects += p.role == Role::subject;
    items += p.bill;
    // An item is a part of the container and hangs on an item, so that the sum tells each part once.
    if (p.bill && !p.against.empty()) {
      EXPECT_TRUE(find(bill, p.against).bill) << p.name;
    }
  }
  EXPECT_GE(subjects, 14);
  EXPECT_EQ(items, subjects - 3);  // user and time are no parts of it, and it itself is none
  EXPECT_FALSE(find(bill, "container").bill);
  EXPECT_FALSE(find(bill, "user").bill);
  EXPECT_TRUE(find(bill, "overlay").bill);
}

TEST(Places, AnUnknownNameIsAnsweredWithTheKnownOnesAndTheGroups) {
  try {
    (void)named_places({"nowhere"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.hint().find("seccomp-400"), std::string::npos);
    EXPECT_NE(error.hint().find("pid-depth"), std::string::npos);
  }
}

}  // namespace
}  // namespace tare::lab
