// Changes of resources: what means "as it is", what goes together, what stays.
#include "oci/merge.hpp"

#include <gtest/gtest.h>

namespace tare::oci {
namespace {

Resources with_memory(std::optional<std::int64_t> limit, std::optional<std::int64_t> swap) {
  Resources r;
  r.memory.emplace();
  r.memory->limit = limit;
  r.memory->swap = swap;
  return r;
}

TEST(Merge, ZerosAreNotGiven) {
  Resources r = with_memory(0, 0);
  r.memory->reservation = r.memory->kernel = r.memory->kernel_tcp = 0;
  r.cpu.emplace();
  r.cpu->shares = r.cpu->period = r.cpu->realtime_period = 0;
  r.cpu->quota = r.cpu->realtime_runtime = 0;
  r.block_io.emplace();
  r.block_io->weight = r.block_io->leaf_weight = 0;
  r.network.emplace();
  EXPECT_EQ(given(r), Resources{});
}

TEST(Merge, ZerosThatAreLimits) {
  Resources r;
  r.pids_limit = 0;
  r.cpu.emplace();
  r.cpu->burst = 0;
  r.cpu->idle = 0;
  r.memory.emplace();
  r.memory->swappiness = 0;
  EXPECT_EQ(given(r), r);
}

TEST(Merge, MemoryAndSwapGoTogether) {
  const auto both = [](Resources change, const Resources& before) {
    const auto memory = completed(std::move(change), before).memory.value();
    return std::pair(memory.limit, memory.swap);
  };
  using Pair = std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>;
  EXPECT_EQ(both(with_memory(5, {}), with_memory(4, 8)), Pair(5, 8));
  EXPECT_EQ(both(with_memory(5, {}), with_memory(4, -1)), Pair(5, std::nullopt));
  EXPECT_EQ(both(with_memory(5, {}), Resources{}), Pair(5, std::nullopt));
  EXPECT_EQ(both(with_memory({}, 9), with_memory(4, 8)), Pair(4, 9));
  EXPECT_EQ(both(with_memory({}, -1), with_memory(4, 8)), Pair(std::nullopt, -1));
  EXPECT_EQ(both(with_memory(-1, {}), with_memory(4, 8)), Pair(-1, -1));
  EXPECT_EQ(both(with_memory(6, 7), with_memory(4, 8)), Pair(6, 7));
  EXPECT_EQ(completed(Resources{}, with_memory(4, 8)), Resources{});
}

TEST(Merge, WhatIsNotGivenStays) {
  Resources before = with_memory(4, 8);
  before.memory->reservation = 2;
  before.cpu.emplace();
  before.cpu->shares = 512;
  before.cpu->cpus = "0-1";
  before.pids_limit = 10;
  before.devices.emplace_back();
  before.hugepage_limits = {{"2MB", 1}, {"1GB", 2}};
  before.block_io.emplace();
  before.block_io->throttle_read_bps = {{8, 0, 100}};
  before.unified = {{"a", "1"}};
  EXPECT_EQ(merged(before, Resources{}), before);

  Resources change = with_memory(6, {});
  change.cpu.emplace();
  change.cpu->mems = "0";
  change.hugepage_limits = {{"1GB", 7}, {"64KB", 3}};
  change.block_io.emplace();
  change.block_io->throttle_read_bps = {{8, 16, 5}, {8, 0, 200}};
  change.unified = {{"b", "2"}};
  change.rdma["mlx"].hca_handles = 2;
  const Resources after = merged(before, change);
  EXPECT_EQ(after.memory->limit, 6);
  EXPECT_EQ(after.memory->swap, 8);
  EXPECT_EQ(after.memory->reservation, 2);
  EXPECT_EQ(after.cpu->shares, 512U);
  EXPECT_EQ(after.cpu->cpus, "0-1");
  EXPECT_EQ(after.cpu->mems, "0");
  EXPECT_EQ(after.pids_limit, 10);
  EXPECT_EQ(after.devices.size(), 1U);
  EXPECT_EQ(after.hugepage_limits, (std::vector<HugepageLimit>{{"2MB", 1}, {"1GB", 7}, {"64KB", 3}}));
  EXPECT_EQ(after.block_io->throttle_read_bps, (std::vector<ThrottleDevice>{{8, 0, 200}, {8, 16, 5}}));
  EXPECT_EQ(after.unified.size(), 2U);
  EXPECT_EQ(after.rdma.at("mlx").hca_handles, 2U);
}

}  // namespace
}  // namespace tare::oci
