// The device rules: what they mean, as a v1 list and as a program, which must answer alike.
#include "cgroup/devices.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::cgroup {
namespace {

constexpr std::uint32_t kR = BPF_DEVCG_ACC_READ, kW = BPF_DEVCG_ACC_WRITE, kM = BPF_DEVCG_ACC_MKNOD;

oci::DeviceRule rule(bool allow, char type, std::optional<std::int64_t> major, std::optional<std::int64_t> minor,
                     std::string access) {
  return {allow, type, major, minor, std::move(access)};
}

// What the specification says: bit by bit, the last rule that speaks of it.
bool by_the_letter(const std::vector<DeviceMatch>& rules, char type, std::int64_t major, std::int64_t minor,
                   std::uint32_t access) {
  for (std::uint32_t bit = 1; bit <= 4; bit *= 2) {
    if ((access & bit) == 0) continue;
    bool allowed = false;
    for (const DeviceMatch& r : rules) {
      const bool speaks = (r.type == 'a' || r.type == type) && (r.major == kAnyNumber || r.major == major) &&
                          (r.minor == kAnyNumber || r.minor == minor) && (r.access & bit) != 0;
      if (speaks) allowed = r.allow;
    }
    if (!allowed) return false;
  }
  return true;
}

// Runs the few instructions that device_program uses.
bool run(const std::vector<bpf_insn>& program, char type, std::uint32_t major, std::uint32_t minor,
         std::uint32_t access) {
  std::uint32_t reg[11] = {};
  const std::uint32_t context[3] = {(type == 'c' ? BPF_DEVCG_DEV_CHAR : BPF_DEVCG_DEV_BLOCK) | access << 16, major,
                                    minor};
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const bpf_insn& i = program[pc];
    const auto imm = static_cast<std::uint32_t>(i.imm);
    switch (i.code) {
      case BPF_LDX | BPF_MEM | BPF_W:
        reg[i.dst_reg] = context[i.off / 4];
        break;
      case BPF_ALU | BPF_MOV | BPF_K:
        reg[i.dst_reg] = imm;
        break;
      case BPF_ALU | BPF_MOV | BPF_X:
        reg[i.dst_reg] = reg[i.src_reg];
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        reg[i.dst_reg] &= imm;
        break;
      case BPF_ALU | BPF_RSH | BPF_K:
        reg[i.dst_reg] >>= imm;
        break;
      case BPF_JMP32 | BPF_JNE | BPF_K:
        pc += reg[i.dst_reg] != imm ? i.off : 0;
        break;
      case BPF_JMP32 | BPF_JEQ | BPF_K:
        pc += reg[i.dst_reg] == imm ? i.off : 0;
        break;
      case BPF_JMP | BPF_EXIT:
        return reg[0] != 0;
      default:
        ADD_FAILURE() << "instruction " << pc << " has code " << static_cast<int>(i.code);
        return false;
    }
  }
  ADD_FAILURE() << "the program runs over its end";
  return false;
}

// What the kernel's v1 list answers: one exception must hold the whole access.
bool by_list(const DeviceList& list, char type, std::int64_t major, std::int64_t minor, std::uint32_t access) {
  for (const DeviceMatch& m : list.exceptions) {
    if (m.type != type || (m.major != kAnyNumber && m.major != major) || (m.minor != kAnyNumber && m.minor != minor))
      continue;
    if (list.allow_all ? (m.access & access) != 0 : (access & ~m.access) == 0) return !list.allow_all;
  }
  return list.allow_all;
}

TEST(Devices, TheDefaultList) {
  const DeviceList list = device_list(device_rules({}));
  EXPECT_FALSE(list.allow_all);
  std::vector<std::string> lines;
  for (const DeviceMatch& m : list.exceptions) lines.push_back(device_text(m));
  EXPECT_EQ(lines, (std::vector<std::string>{"c *:* m", "b *:* m", "c 1:3 rwm", "c 1:5 rwm", "c 1:7 rwm", "c 1:8 rwm",
                                             "c 1:9 rwm", "c 5:0 rwm", "c 5:1 rwm", "c 5:2 rwm", "c 136:* rwm",
                                             "c 10:200 rwm"}));
}

TEST(Devices, WhatTheSpecAllowsAlreadyIsNotWrittenTwice) {
  const DeviceList list = device_list(device_rules({rule(false, 'a', {}, {}, "rwm"), rule(true, 'c', 1, 3, "rwm"),
                                                    rule(true, 'c', 5, {}, ""), rule(true, 'c', {}, {}, "m")}));
  int of_major_5 = 0;
  for (const DeviceMatch& m : list.exceptions) of_major_5 += m.major == 5;
  EXPECT_EQ(of_major_5, 1);
  EXPECT_EQ(list.exceptions.size(), 10U);
}

TEST(Devices, PrivilegedIsOneLine) {
  const DeviceList list = device_list(device_rules({rule(false, 'c', 1, 1, ""), rule(true, 'a', {}, {}, "")}));
  EXPECT_TRUE(list.allow_all);
  EXPECT_TRUE(list.exceptions.empty());
}

TEST(Devices, NumbersBelowZeroStandForAll) {
  EXPECT_EQ(device_text(device_rules({rule(true, 'b', -1, -1, "r")})[0]), "b *:* r");
}

TEST(Devices, RefusesNonsense) {
  for (const auto& bad :
       {rule(true, 'x', 1, 1, "r"), rule(true, 'c', 1, 1, "rx"), rule(true, 'c', 1LL << 40, 1, "r")}) {
    try {
      device_rules({rule(true, 'c', 1, 3, "r"), bad});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_spec);
      EXPECT_TRUE(error.text().starts_with("linux.resources.devices[1].")) << error.what();
    }
  }
}

TEST(Devices, AHoleIsRefusedOnV1) {
  try {
    device_list(device_rules({rule(true, 'b', 8, {}, "rwm"), rule(false, 'b', 8, 1, "w")}));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_TRUE(error.text().starts_with("linux.resources.devices[1]: ")) << error.what();
  }
  // Taking a whole rule back, or some access of all its devices, is no hole.
  const DeviceList list = device_list(device_rules({rule(true, 'b', 8, 1, "rwm"), rule(false, 'b', 8, {}, "w")}));
  bool found = false;
  for (const DeviceMatch& m : list.exceptions) found |= device_text(m) == "b 8:1 rm";
  EXPECT_TRUE(found);
}

TEST(Devices, ListsAreReadBack) {
  const DeviceList list = parse_device_list("c *:* m\nb 8:1 rw\n\njunk\n");
  ASSERT_EQ(list.exceptions.size(), 2U);
  EXPECT_EQ(device_text(list.exceptions[0]), "c *:* m");
  EXPECT_EQ(device_text(list.exceptions[1]), "b 8:1 rw");
  EXPECT_FALSE(list.allow_all);
  EXPECT_TRUE(parse_device_list("a *:* rwm").allow_all);
}

TEST(Devices, ProgramAndListFollowTheRulesInOrder) {
  std::mt19937 random(20240601);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int lists = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<DeviceMatch> rules;
    for (int n = pick(7); n >= 0; --n) {
      DeviceMatch m;
      m.allow = pick(2) == 1;
      m.type = "abc"[pick(3)];
      m.major = pick(3) == 0 ? kAnyNumber : 1 + pick(2);
      m.minor = pick(3) == 0 ? kAnyNumber : 1 + pick(2);
      m.access = pick(3) == 0 ? kAllAccess : static_cast<std::uint32_t>(1 + pick(7));
      rules.push_back(m);
    }
    const std::vector<bpf_insn> program = device_program(rules);
    std::optional<DeviceList> list;
    try {
      list = device_list(rules);
      ++lists;
    } catch (const Error&) {
    }
    for (const char type : {'b', 'c'})
      for (std::uint32_t major = 0; major < 3; ++major)
        for (std::uint32_t minor = 0; minor < 3; ++minor)
          for (std::uint32_t access = 1; access <= 7; ++access) {
            const bool wanted = by_the_letter(rules, type, major, minor, access);
            ASSERT_EQ(run(program, type, major, minor, access), wanted)
                << round << ' ' << type << major << minor << access;
            // A list may be stricter for several accesses at once, never more generous.
            if (!list) continue;
            const bool single = access == kR || access == kW || access == kM;
            if (single) {
              ASSERT_EQ(by_list(*list, type, major, minor, access), wanted) << round;
            }
            if (!wanted) {
              ASSERT_FALSE(by_list(*list, type, major, minor, access)) << round;
            }
          }
  }
  EXPECT_GT(lists, 500);
}

}  // namespace
}  // namespace tare::cgroup
