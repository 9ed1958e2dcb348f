// All designs do the same: random operations against a plain model, which knows nothing of hashes, arrays or RCU.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>

#include "pidspace/pidspace.hpp"

namespace tare::pidspace {
namespace {

template <class Design>
class Designs : public testing::Test {
  rcu::Thread thread_;
};
using All = testing::Types<None<Plain>, Flat<Plain>, List<Plain>, Hash<Plain>, Fixed<4>::Of<Plain>,
                           Fixed<33>::Of<Plain>, Kernel<Plain>>;
TYPED_TEST_SUITE(Designs, All);

// A namespace and a pid as one would write them down on paper.
struct PlainNs {
  PlainNs* parent = nullptr;
  int level = 0, last = 0;
  std::map<int, int> pids{};  // number to the pid's key
  int children = 0;
  bool dead = false;
};
struct PlainPid {
  PlainNs* ns = nullptr;
  std::vector<int> numbers{};
};

int next_number(const PlainNs& ns, int pid_max) {
  for (int n = ns.last + 1; n < pid_max; ++n) {
    if (!ns.pids.contains(n)) return n;
  }
  for (int n = ns.last + 1 > 300 ? 300 : 1; n <= ns.last; ++n) {
    if (!ns.pids.contains(n)) return n;
  }
  return 0;
}

template <class Design>
struct Pair {
  explicit Pair(const Limits& limits) : space(limits) {
    real.push_back(&space.first()), plain.push_back(std::make_unique<PlainNs>());
  }
  Space<Design> space;
  std::vector<typename Design::Ns*> real;
  std::vector<std::unique_ptr<PlainNs>> plain;
  std::map<int, typename Design::Pid*> pids;
  std::map<int, PlainPid> plain_pids;
  int key = 0;

  void create(std::size_t at) {
    const auto made = space.create(*real[at]);
    const bool can = plain[at]->level + 1 <= std::min(Design::kLevel, space.limits().level);
    ASSERT_EQ(made.has_value(), can) << Design::kName;
    if (!can) {
      ASSERT_EQ(made.error(), Design::kLevel == 0 ? Failure::unsupported : Failure::depth);
      return;
    }
    real.push_back(*made);
    plain.push_back(std::make_unique<PlainNs>(plain[at].get(), plain[at]->level + 1));
    ++plain[at]->children;
  }
  void destroy(std::size_t at) {
    const bool can = at > 0 && plain[at]->pids.empty() && plain[at]->children == 0;
    const auto done = space.destroy(*real[at]);
    ASSERT_EQ(done.has_value(), can);
    if (!can) {
      ASSERT_EQ(done.error(), Failure::busy);
      return;
    }
    --plain[at]->parent->children;
    real.erase(real.begin() + static_cast<std::ptrdiff_t>(at));
    plain.erase(plain.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void allocate(std::size_t at) {
    PlainPid want{plain[at].get(), std::vector<int>(static_cast<std::size_t>(plain[at]->level) + 1)};
    bool can = true;
    std::vector<std::pair<PlainNs*, int>> lasts;
    for (PlainNs* ns = want.ns; ns != nullptr && can; ns = ns->parent) {
      const int n = next_number(*ns, space.limits().pid_max);
      can = n != 0;
      if (!can) break;
      want.numbers[static_cast<std::size_t>(ns->level)] = n;
      ns->last = n;  // the number counts as given also where another level has none
    }
    const auto got = space.allocate(*real[at]);
    ASSERT_EQ(got.has_value(), can);
    if (!can) {
      ASSERT_EQ(got.error(), Failure::numbers);
      return;
    }
    for (PlainNs* ns = want.ns; ns != nullptr; ns = ns->parent) {
      ns->pids[want.numbers[static_cast<std::size_t>(ns->level)]] = key;
    }
    pids[key] = *got;
    plain_pids[key++] = want;
  }
  void free(int which) {
    const PlainPid pid = plain_pids[which];
    for (PlainNs* ns = pid.ns; ns != nullptr; ns = ns->parent)
      ns->pids.erase(pid.numbers[static_cast<std::size_t>(ns->level)]);
    plain_pids.erase(which);
    space.free(*pids[which]);
    pids.erase(which);
  }
  void compare() {
    const rcu::Section section;
    for (std::size_t i = 0; i < real.size(); ++i) {
      std::map<int, int> seen;
      space.each(*real[i], [&](int number, typename Design::Pid& pid) {
        const auto at = plain[i]->pids.find(number);
        ASSERT_NE(at, plain[i]->pids.end()) << number;
        ASSERT_EQ(&pid, pids[at->second]);
        seen[number] = at->second;
      });
      ASSERT_EQ(seen, plain[i]->pids);
      for (const auto& [which, pid] : plain_pids) {
        bool inside = false;
        for (const PlainNs* ns = pid.ns; ns != nullptr; ns = ns->parent) inside |= ns == plain[i].get();
        const int want = inside ? pid.numbers[static_cast<std::size_t>(plain[i]->level)] : 0;
        ASSERT_EQ(space.nr_in(*pids[which], *real[i]), want);
        ASSERT_EQ(space.find(want == 0 ? 3'999'999 : want, *real[i]), want == 0 ? nullptr : pids[which]);
      }
    }
    for (const auto& [which, pid] : plain_pids) {
      ASSERT_EQ(space.nr(*pids[which]), pid.numbers[0]);
      ASSERT_EQ(space.vnr(*pids[which]), pid.numbers.back());
    }
  }
};

template <class Design>
void random_operations(unsigned seed, const Limits& limits, int steps) {
  Pair<Design> both(limits);
  std::mt19937 random(seed);
  for (int i = 0; i < steps; ++i) {
    const std::size_t at = random() % both.real.size();
    const unsigned what = random() % 100;
    if (what < 8 && both.real.size() < 60) {
      both.create(random() % 3 == 0 ? at : both.real.size() - 1);
    } else if (what < 12) {
      both.destroy(at);
    } else if (what < 62 || both.pids.empty()) {
      both.allocate(at);
    } else {
      both.free(std::next(both.plain_pids.begin(), static_cast<long>(random() % both.plain_pids.size()))->first);
    }
    if (testing::Test::HasFatalFailure()) return;
    if (i % 97 == 0) both.compare();
    if (testing::Test::HasFatalFailure()) return;
  }
  both.compare();
}

TYPED_TEST(Designs, DoWhatAPlainModelDoes) {
  for (unsigned seed = 1; seed <= 4 && !this->HasFatalFailure(); ++seed)
    random_operations<TypeParam>(seed, {.buckets = 64}, 2500);
}

TYPED_TEST(Designs, NumbersGoRoundAndRunOutAtEachLevelByItself) {
  for (unsigned seed = 1; seed <= 3 && !this->HasFatalFailure(); ++seed) {
    random_operations<TypeParam>(seed, {.pid_max = 340, .buckets = 16}, 3000);
  }
}

TYPED_TEST(Designs, NumbersLeaveTheFirstThreeHundredAloneAfterARound) {
  Space<TypeParam> space({.pid_max = 1000});
  for (int i = 1; i < 1000; ++i) ASSERT_EQ(space.nr(**space.allocate(space.first())), i);
  ASSERT_EQ(space.allocate(space.first()).error(), Failure::numbers);
  for (const int gone : {7, 299, 301, 900}) space.free(*space.find(gone, space.first()));
  EXPECT_EQ(space.nr(**space.allocate(space.first())), 301);
  EXPECT_EQ(space.nr(**space.allocate(space.first())), 900);
  EXPECT_EQ(space.allocate(space.first()).error(), Failure::numbers);
}

TYPED_TEST(Designs, DepthIsRefusedBeyondTheDesignsAndTheKernels) {
  Space<TypeParam> space;
  auto* ns = &space.first();
  for (int level = 1; level <= TypeParam::kLevel; ++level) {
    const auto below = space.create(*ns);
    ASSERT_TRUE(below.has_value()) << level;
    ns = *below;
    ASSERT_EQ(ns->level, level);
  }
  EXPECT_EQ(space.create(*ns).error(), TypeParam::kLevel == 0 ? Failure::unsupported : Failure::depth);
  const auto pid = space.allocate(*ns);
  ASSERT_TRUE(pid.has_value());
  EXPECT_EQ(space.vnr(**pid), 1);
}

TYPED_TEST(Designs, MemoryThatRunsOutIsAnErrorAtEveryAllocation) {
  for (std::size_t limit = 0; limit < 40'000; limit += 64) {
    Space<TypeParam> space({.memory = limit});
    auto* ns = &space.first();
    if (TypeParam::kLevel > 0) {
      if (const auto below = space.create(*ns)) {
        ns = *below;
      } else {
        ASSERT_EQ(below.error(), Failure::memory);
      }
    }
    int made = 0;
    for (;; ++made) {
      const auto pid = space.allocate(*ns);
      if (pid) continue;
      ASSERT_EQ(pid.error(), Failure::memory);
      break;
    }
    int seen = 0;
    space.each(*ns, [&](int, auto&) { ++seen; });
    ASSERT_EQ(seen, made);
    ASSERT_LE(space.memory(), limit);
  }
}

TYPED_TEST(Designs, WhatWaitsForReadersIsGivenBackBeforeMemoryRunsOut) {
  Space<TypeParam> space({.memory = 40'000});
  for (int i = 0; i < 5000; ++i) {
    const auto pid = space.allocate(space.first());
    ASSERT_TRUE(pid.has_value()) << i;
    space.free(**pid);
  }
}

TYPED_TEST(Designs, TasksOfAllTypesAsEachNamespaceSeesThem) {
  using Process = typename Space<TypeParam>::Process;
  Space<TypeParam> space;
  auto* const ns = TypeParam::kLevel > 0 ? *space.create(space.first()) : &space.first();
  auto* const before = *space.allocate(space.first());
  auto *const leader = *space.allocate(*ns), *const second = *space.allocate(*ns);
  Process parent, child;
  for (const Type type : {Type::pid, Type::tgid, Type::pgid, Type::sid}) space.attach(parent, type, *leader);
  space.attach(child, Type::pid, *second);
  space.attach(child, Type::tgid, *second);
  space.attach(child, Type::pgid, *leader);
  space.attach(child, Type::sid, *leader);
  EXPECT_EQ(space.task_nr(child, Type::pid, *ns), space.vnr(*second));
  EXPECT_EQ(space.task_nr(child, Type::sid, *ns), space.vnr(*leader));
  EXPECT_EQ(space.task_nr(child, Type::sid, space.first()), space.nr(*leader));
  std::vector<const Process*> group;
  Space<TypeParam>::tasks(*leader, Type::pgid, [&](const Process& task) { group.push_back(&task); });
  EXPECT_EQ(group, (std::vector<const Process*>{&child, &parent}));

  const int kept = space.nr(*leader);
  for (const Type type : {Type::pid, Type::tgid}) space.detach(parent, type);
  EXPECT_EQ(space.find(kept, space.first()), leader) << "its session and its group have it still";
  space.change(child, Type::pgid, *second);
  space.change(child, Type::sid, *second);
  space.detach(parent, Type::pgid);
  space.detach(parent, Type::sid);
  EXPECT_EQ(space.find(kept, space.first()), nullptr) << "it goes with its last task";

  Process thread;
  space.transfer(child, thread, Type::pid);
  EXPECT_EQ(space.task_nr(thread, Type::pid, *ns), space.vnr(*second));
  EXPECT_EQ(space.task_nr(child, Type::pid, *ns), 0);
  space.detach(thread, Type::pid);
  for (const Type type : {Type::tgid, Type::pgid, Type::sid}) space.detach(child, type);
  space.free(*before);
  EXPECT_EQ(space.next(1, space.first()), nullptr);
}

TYPED_TEST(Designs, TheDeathOfANamespacesInitTakesTheRestWithIt) {
  using Process = typename Space<TypeParam>::Process;
  if (TypeParam::kLevel < 2) {
    SUCCEED() << "n/a: no nesting";
    return;
  }
  Space<TypeParam> space;
  auto *const outer = *space.create(space.first()), *const inner = *space.create(*outer),
              *const beside = *space.create(space.first());
  std::vector<std::unique_ptr<Process>> tasks;
  const auto start = [&](typename TypeParam::Ns& ns) {
    tasks.push_back(std::make_unique<Process>());
    auto* const pid = *space.allocate(ns);
    for (const Type type : {Type::pid, Type::tgid, Type::pgid, Type::sid}) space.attach(*tasks.back(), type, *pid);
    return tasks.back().get();
  };
  Process* const stays = start(space.first());
  Process* const init = start(*outer);
  Process* const other = start(*beside);
  Process* const plain = start(*outer);
  const std::set<Process*> victims{start(*inner), start(*inner), start(*outer)};
  std::set<Process*> ended;
  space.exit(*plain, [&](Process&) { FAIL() << "no init"; });
  space.exit(*init, [&](Process& task) { ended.insert(&task); });
  EXPECT_EQ(ended, victims);
  EXPECT_EQ(space.allocate(*outer).error(), Failure::dead);
  EXPECT_EQ(space.allocate(*inner).error(), Failure::dead);
  EXPECT_EQ(space.create(*outer).error(), Failure::dead);
  EXPECT_NE(space.task_nr(*stays, Type::pid, space.first()), 0);
  EXPECT_NE(space.task_nr(*other, Type::pid, *beside), 0);
  EXPECT_TRUE(space.destroy(*inner).has_value());
  EXPECT_TRUE(space.destroy(*outer).has_value());
  EXPECT_EQ(space.destroy(*beside).error(), Failure::busy);
  space.exit(*stays, [](Process&) {});
  space.exit(*other, [](Process&) {});
}

// The rows: what each design is, in bytes a pid and in loads from memory a question.
template <template <class> class Design>
std::vector<std::uint64_t> loads(int level) {
  using D = Design<Counted>;
  Space<D> space;
  auto* ns = &space.first();
  for (int i = 0; i < level; ++i) ns = *space.create(*ns);
  const auto* const pid = *space.allocate(*ns);
  const auto count = [&](const auto& ask) {
    const std::uint64_t before = Counted::loads;
    ask();
    return Counted::loads - before;
  };
  return {count([&] { (void)space.nr(*pid); }), count([&] { (void)space.vnr(*pid); }),
          count([&] { (void)space.nr_in(*pid, *ns); }), count([&] { (void)space.find(1, *ns); })};
}
using Loads = std::vector<std::uint64_t>;

TEST(Rows, NoneIsTheNumberItself) { EXPECT_EQ(loads<None>(0), (Loads{1, 1, 1, 2})); }
TEST(Rows, FlatIsOneDereferenceFromBothSides) {
  EXPECT_EQ(loads<Flat>(0), (Loads{1, 1, 2, 3}));
  EXPECT_EQ(loads<Flat>(1), (Loads{1, 1, 3, 4}));
}
TEST(Rows, TheListIsLongerForEachLevelAboveTheAskers) {
  EXPECT_EQ(loads<List>(0), (Loads{3, 2, 3, 4}));
  EXPECT_EQ(loads<List>(1), (Loads{4, 2, 3, 4}));
  EXPECT_EQ(loads<List>(8), (Loads{11, 2, 3, 4}));
}
TEST(Rows, TheHashIsALookUpEvenForOneLevelAndNoLongerForMany) {
  EXPECT_EQ(loads<Hash>(0), (Loads{4, 5, 4, 4}));
  EXPECT_EQ(loads<Hash>(8), (Loads{4, 5, 4, 4}));
}
TEST(Rows, TheFixedArrayIsAnIndex) {
  EXPECT_EQ(loads<Fixed<4>::Of>(0), (Loads{1, 2, 4, 4}));
  EXPECT_EQ(loads<Fixed<4>::Of>(3), (Loads{1, 2, 4, 4}));
}
TEST(Rows, TheKernelsIsAnIndexAndATree) {
  EXPECT_EQ(loads<Kernel>(0), (Loads{1, 2, 4, 3}));
  EXPECT_EQ(loads<Kernel>(8), (Loads{1, 2, 4, 3}));
}
TEST(Rows, BytesOfAPid) {
  const std::size_t head = sizeof(PidHead<Kernel<Plain>::Pid>);
  EXPECT_EQ(None<Plain>::bytes(0), head + 16);
  EXPECT_EQ(Flat<Plain>::bytes(1), head + 32);
  EXPECT_EQ(List<Plain>::bytes(0), head + 8 + 40);
  EXPECT_EQ(List<Plain>::bytes(8), head + 8 + 9 * 40);
  EXPECT_EQ(Hash<Plain>::bytes(8), head + 8 + 9 * 40);
  EXPECT_EQ(Fixed<4>::Of<Plain>::bytes(0), Fixed<4>::Of<Plain>::bytes(3));
  EXPECT_EQ(Kernel<Plain>::bytes(0), head + 8 + 16);
  EXPECT_EQ(Kernel<Plain>::bytes(8), head + 8 + 9 * 16);
}

}  // namespace
}  // namespace tare::pidspace
