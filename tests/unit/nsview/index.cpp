// The index against a plain model: processes in a random tree of namespaces.
#include "nsview/index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tare::nsview {
namespace {

Process process(pid_t pid, std::uint64_t ns, std::vector<pid_t> numbers) {
  Process p;
  p.pid = pid;
  p.numbers = std::move(numbers);
  p.namespaces[index_of(Kind::pid)] = ns;
  return p;
}

TEST(Index, BothWaysAtEachLevel) {
  Snapshot snapshot;
  snapshot.processes = {process(10, 100, {10}), process(20, 200, {20, 2}), process(30, 300, {30, 3, 1}),
                        process(40, 0, {40})};
  const Index index(snapshot, {{100, 0}, {200, 100}, {300, 200}});
  EXPECT_EQ(index.find(100, 30), &snapshot.processes[2]);
  EXPECT_EQ(index.find(200, 3), &snapshot.processes[2]);
  EXPECT_EQ(index.find(300, 1), &snapshot.processes[2]);
  EXPECT_EQ(index.find(300, 2), nullptr);
  EXPECT_EQ(index.find(400, 1), nullptr);
  EXPECT_EQ(index.number(snapshot.processes[2], 200), 3);
  EXPECT_EQ(index.number(snapshot.processes[1], 300), 0);
  EXPECT_EQ(index.number(snapshot.processes[3], 100), 0);  // its namespace can't be read
}

TEST(Index, AgreesWithAModel) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint64_t> parent = {0, 0};  // namespace i + 1000; 1 is the root
    Index::Parents parents = {{1001, 0}};
    for (std::uint64_t ns = 2; ns < 30; ++ns) {
      parent.push_back(1 + random() % (ns - 1));
      parents[ns + 1000] = parent[ns] + 1000;
    }
    std::vector<pid_t> last(30, 0);
    std::map<std::pair<std::uint64_t, pid_t>, pid_t> model;
    Snapshot snapshot;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t ns = 1 + random() % 29;
      std::vector<pid_t> numbers;
      for (std::uint64_t up = ns; up != 0; up = parent[up]) numbers.insert(numbers.begin(), ++last[up]);
      std::size_t at = numbers.size();
      for (std::uint64_t up = ns; up != 0; up = parent[up]) model[{up + 1000, numbers[--at]}] = numbers[0];
      snapshot.processes.push_back(process(numbers[0], ns + 1000, numbers));
    }
    const Index index(snapshot, parents);
    for (std::uint64_t ns = 1001; ns < 1030; ++ns)
      for (pid_t number = 1; number < 310; ++number) {
        const auto at = model.find({ns, number});
        const Process* p = index.find(ns, number);
        ASSERT_EQ(p == nullptr, at == model.end());
        if (p == nullptr) continue;
        EXPECT_EQ(p->pid, at->second);
        EXPECT_EQ(index.number(*p, ns), number);
      }
  }
}

}  // namespace
}  // namespace tare::nsview
