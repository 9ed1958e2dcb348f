// update and events: what options mean, and what is printed.
#include <gtest/gtest.h>

#include <deque>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"

namespace tare::cli {
namespace {

Parsed parsed(const Command& command, std::vector<std::string> given) {
  static std::deque<std::vector<std::string>> kept;
  std::vector<std::string>& words = kept.emplace_back(std::move(given));
  words.insert(words.begin(), "tare");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  return parse(command, static_cast<int>(words.size()), argv.data());
}

TEST(Update, EveryOption) {
  const oci::Resources r = make_update(parsed(kUpdate, {"--blkio-weight",
                                                        "100",
                                                        "--cpu-period",
                                                        "1",
                                                        "--cpu-quota=-1",
                                                        "--cpu-burst",
                                                        "0",
                                                        "--cpu-share",
                                                        "2",
                                                        "--cpu-rt-period",
                                                        "3",
                                                        "--cpu-rt-runtime",
                                                        "4",
                                                        "--cpu-idle",
                                                        "1",
                                                        "--cpuset-cpus",
                                                        "0-3",
                                                        "--cpuset-mems",
                                                        "0",
                                                        "--memory",
                                                        "1k",
                                                        "--memory-reservation",
                                                        "2K",
                                                        "--memory-swap",
                                                        "-1",
                                                        "--kernel-memory",
                                                        "5",
                                                        "--kernel-memory-tcp",
                                                        "6",
                                                        "--pids-limit",
                                                        "0",
                                                        "id"}));
  EXPECT_EQ(r.block_io->weight, 100);
  EXPECT_EQ(r.cpu->period, 1U);
  EXPECT_EQ(r.cpu->quota, -1);
  EXPECT_EQ(r.cpu->burst, 0U);
  EXPECT_EQ(r.cpu->shares, 2U);
  EXPECT_EQ(r.cpu->realtime_period, 3U);
  EXPECT_EQ(r.cpu->realtime_runtime, 4);
  EXPECT_EQ(r.cpu->idle, 1);
  EXPECT_EQ(r.cpu->cpus, "0-3");
  EXPECT_EQ(r.cpu->mems, "0");
  EXPECT_EQ(r.memory->limit, 1024);
  EXPECT_EQ(r.memory->reservation, 2048);
  EXPECT_EQ(r.memory->swap, -1);
  EXPECT_EQ(r.memory->kernel, 5);
  EXPECT_EQ(r.memory->kernel_tcp, 6);
  EXPECT_EQ(r.pids_limit, 0);
  EXPECT_EQ(make_update(parsed(kUpdate, {"id"})), oci::Resources{});
}

TEST(Update, Bytes) {
  EXPECT_EQ(parse_bytes("0", "m"), 0);
  EXPECT_EQ(parse_bytes("-1", "m"), -1);
  EXPECT_EQ(parse_bytes("123b", "m"), 123);
  EXPECT_EQ(parse_bytes("64M", "m"), 64 << 20);
  EXPECT_EQ(parse_bytes("64mb", "m"), 64 << 20);
  EXPECT_EQ(parse_bytes("2GiB", "m"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("9223372036854775807", "m"), INT64_MAX);
  for (const char* wrong : {"", "-2", "M", "1x", "1ib", "1mm", " 1", "1 ", "9223372036854775808", "9999999p", "1.5g"})
    EXPECT_THROW(parse_bytes(wrong, "m"), Error) << wrong;
}

TEST(Events, Durations) {
  using std::chrono::milliseconds;
  EXPECT_EQ(parse_duration("5s", "i"), milliseconds(5000));
  EXPECT_EQ(parse_duration("500ms", "i"), milliseconds(500));
  EXPECT_EQ(parse_duration("1h1m1.5s", "i"), milliseconds(3661500));
  EXPECT_EQ(parse_duration(".5s", "i"), milliseconds(500));
  EXPECT_EQ(parse_duration("1ns", "i"), milliseconds(1));
  for (const char* wrong :
       {"", "0", "0s", "-1s", "5", "s", "5x", "1e3s", "infs", "nans", "1.2.3s", ".s", "1.x", "h1", "99999999999999h"})
    EXPECT_THROW(parse_duration(wrong, "i"), Error) << wrong;
}

TEST(Events, NetDev) {
  const auto all = runtime::parse_net_dev(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
      "compressed\n"
      "    lo:     1      2    3    4    0     0          0         0     5       6    7    8    0     0       0       "
      " 0\n"
      "a:b\xff:     9      2    3    4    0     0          0         0     5       6    7    8    0     0       0      "
      "  0\n"
      "  cut: 1 2\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "lo");
  EXPECT_EQ(all[0].rx_bytes, 1U);
  EXPECT_EQ(all[0].rx_dropped, 4U);
  EXPECT_EQ(all[0].tx_bytes, 5U);
  EXPECT_EQ(all[0].tx_dropped, 8U);
  EXPECT_EQ(all[1].name, "a:b?");
  EXPECT_EQ(all[1].rx_bytes, 9U);
}

TEST(Events, Oom) {
  runtime::Event event;
  event.oom = true;
  EXPECT_EQ(event_json("a", event), R"({"type":"oom","id":"a"})");
}

TEST(Events, Stats) {
  runtime::Event event;
  cgroup::Usage& usage = event.usage;
  usage.cpu.total = 7;
  usage.cpu.percpu = {3, 4};
  usage.cpu.throttled_periods = 2;
  usage.cpu.pressure.emplace().some.avg10 = "1.25";
  usage.cpuset.cpus = {0, 1};
  usage.cpuset.sched_relax_domain_level = -1;
  usage.memory.usage = {cgroup::kNoLimit, 10, 20, 1};
  usage.memory.raw = {{"anon", 5}};
  usage.pids_current = 3;
  usage.block_io.bytes = {{8, 0, 4096, "Read"}};
  usage.hugepages = {{"2MB", 1, 2, 3}};
  EXPECT_EQ(event_json("a", event),
            R"({"type":"stats","id":"a","data":{"cpu":{"usage":{"total":7,"percpu":[3,4],"kernel":0,"user":0},)"
            R"("throttling":{"throttledPeriods":2},"psi":{"some":{"avg10":1.25,"avg60":0,"avg300":0,"total":0},)"
            R"("full":{"avg10":0,"avg60":0,"avg300":0,"total":0}}},)"
            R"("cpuset":{"cpus":[0,1],"cpu_exclusive":0,"mem_hardwall":0,"mem_exclusive":0,"memory_migrate":0,)"
            R"("memory_spread_page":0,"memory_spread_slab":0,"memory_pressure":0,"sched_load_balance":0,)"
            R"("sched_relax_domain_level":-1},)"
            R"("memory":{"usage":{"limit":18446744073709551615,"usage":10,"max":20,"failcnt":1},)"
            R"("swap":{"limit":0,"failcnt":0},"kernel":{"limit":0,"failcnt":0},"kernelTCP":{"limit":0,"failcnt":0},)"
            R"("raw":{"anon":5}},"pids":{"current":3},)"
            R"("blkio":{"ioServiceBytesRecursive":[{"major":8,"op":"Read","value":4096}]},)"
            R"("hugetlb":{"2MB":{"usage":1,"max":2,"failcnt":3}},"intel_rdt":{},"network_interfaces":null}})");
}

}  // namespace
}  // namespace tare::cli
