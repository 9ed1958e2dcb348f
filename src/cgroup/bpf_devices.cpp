#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/devices.hpp"

namespace tare::cgroup {
namespace {

constexpr char kName[] = "tare_devices";

long bpf(bpf_cmd command, bpf_attr& attr) { return ::syscall(SYS_bpf, command, &attr, sizeof attr); }

// The few instructions that are needed, by their assembler's names.
bpf_insn insn(int code, int dst, int src, int off, std::int64_t imm) {
  bpf_insn i{};
  i.code = static_cast<__u8>(code);
  i.dst_reg = static_cast<__u8>(dst & 0xf);
  i.src_reg = static_cast<__u8>(src & 0xf);
  i.off = static_cast<__s16>(off);
  i.imm = static_cast<__s32>(imm);
  return i;
}
bpf_insn load_word(int dst, int src, std::size_t off) {
  return insn(BPF_LDX | BPF_MEM | BPF_W, dst, src, static_cast<int>(off), 0);
}
bpf_insn alu(int operation, int dst, std::int64_t imm) { return insn(BPF_ALU | operation | BPF_K, dst, 0, 0, imm); }
bpf_insn copy(int dst, int src) { return insn(BPF_ALU | BPF_MOV | BPF_X, dst, src, 0, 0); }
bpf_insn jump_unless_equal(int dst, std::int64_t imm) { return insn(BPF_JMP32 | BPF_JNE | BPF_K, dst, 0, 0, imm); }
bpf_insn leave() { return insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

enum Register { kResult = 0, kContext = 1, kType = 2, kAccess = 3, kMajor = 4, kMinor = 5, kScratch = 6 };

// One rule: passed over unless the device matches. `deny`: answers no if it speaks of a wanted bit.
// `allow`: takes its bits off; answers yes once none is left.
void append_rule(std::vector<bpf_insn>& program, const DeviceMatch& rule) {
  const std::size_t start = program.size();
  if (rule.type != 'a')
    program.push_back(jump_unless_equal(kType, rule.type == 'c' ? BPF_DEVCG_DEV_CHAR : BPF_DEVCG_DEV_BLOCK));
  if (rule.major != kAnyNumber) program.push_back(jump_unless_equal(kMajor, rule.major));
  if (rule.minor != kAnyNumber) program.push_back(jump_unless_equal(kMinor, rule.minor));
  const std::size_t tests = program.size() - start;
  if (rule.allow) {
    program.push_back(alu(BPF_AND, kAccess, static_cast<std::int64_t>(kAllAccess & ~rule.access)));
    program.push_back(insn(BPF_JMP32 | BPF_JNE | BPF_K, kAccess, 0, 2, 0));
    program.push_back(alu(BPF_MOV, kResult, 1));
  } else {
    program.push_back(copy(kScratch, kAccess));
    program.push_back(alu(BPF_AND, kScratch, rule.access));
    program.push_back(insn(BPF_JMP32 | BPF_JEQ | BPF_K, kScratch, 0, 2, 0));
    program.push_back(alu(BPF_MOV, kResult, 0));
  }
  program.push_back(leave());
  // A failed test jumps behind the rule.
  for (std::size_t i = start; i < start + tests; ++i) program[i].off = static_cast<__s16>(program.size() - i - 1);
}

sys::Fd load(const std::vector<bpf_insn>& program) {
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attr.insn_cnt = static_cast<__u32>(program.size());
  attr.insns = reinterpret_cast<std::uintptr_t>(program.data());
  attr.license = reinterpret_cast<std::uintptr_t>("GPL");
  std::memcpy(attr.prog_name, kName, sizeof kName);
  const long fd = bpf(BPF_PROG_LOAD, attr);
  if (fd < 0) throw_errno("bpf BPF_PROG_LOAD of a device filter", errno);
  return sys::Fd(static_cast<int>(fd));
}

// The program that an earlier apply attached here; invalid where there is none.
sys::Fd attached_before(const sys::DirFd& cgroup) {
  __u32 ids[64] = {};
  bpf_attr query{};
  query.query.target_fd = static_cast<__u32>(cgroup.get());
  query.query.attach_type = BPF_CGROUP_DEVICE;
  query.query.prog_ids = reinterpret_cast<std::uintptr_t>(ids);
  query.query.prog_cnt = std::size(ids);
  if (bpf(BPF_PROG_QUERY, query) != 0) throw_errno("bpf BPF_PROG_QUERY", errno);
  for (__u32 i = 0; i < query.query.prog_cnt; ++i) {
    bpf_attr get{};
    get.prog_id = ids[i];
    const long fd = bpf(BPF_PROG_GET_FD_BY_ID, get);
    if (fd < 0) continue;  // gone meanwhile
    sys::Fd program(static_cast<int>(fd));
    bpf_prog_info info{};
    bpf_attr ask{};
    ask.info.bpf_fd = static_cast<__u32>(program.get());
    ask.info.info_len = sizeof info;
    ask.info.info = reinterpret_cast<std::uintptr_t>(&info);
    if (bpf(BPF_OBJ_GET_INFO_BY_FD, ask) != 0) throw_errno("bpf BPF_OBJ_GET_INFO_BY_FD", errno);
    if (std::strncmp(info.name, kName, sizeof info.name) == 0) return program;
  }
  return {};
}

}  // namespace

std::vector<bpf_insn> device_program(const std::vector<DeviceMatch>& rules) {
  std::vector<bpf_insn> program;
  program.reserve(rules.size() * 8 + 8);
  static_assert(offsetof(bpf_cgroup_dev_ctx, access_type) == 0);
  program.push_back(load_word(kType, kContext, offsetof(bpf_cgroup_dev_ctx, access_type)));
  program.push_back(copy(kAccess, kType));
  program.push_back(alu(BPF_AND, kType, 0xffff));
  program.push_back(alu(BPF_RSH, kAccess, 16));
  program.push_back(load_word(kMajor, kContext, offsetof(bpf_cgroup_dev_ctx, major)));
  program.push_back(load_word(kMinor, kContext, offsetof(bpf_cgroup_dev_ctx, minor)));
  bool allow_rest = false;
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
    if (rule->type == 'a' && rule->major == kAnyNumber && rule->minor == kAnyNumber && rule->access == kAllAccess) {
      // Decides whatever is still open, so what stands before it says nothing any more (and the
      // verifier would refuse instructions that can't be reached).
      allow_rest = rule->allow;
      break;
    }
    append_rule(program, *rule);
  }
  program.push_back(alu(BPF_MOV, kResult, allow_rest ? 1 : 0));
  program.push_back(leave());
  return program;
}

void apply_devices_v2(const Entry& entry, const std::vector<DeviceMatch>& rules) {
  const sys::DirFd cgroup = sys::open_dir(entry.directory());
  const sys::Fd program = load(device_program(rules));
  const sys::Fd before = attached_before(cgroup);
  bpf_attr attr{};
  attr.target_fd = static_cast<__u32>(cgroup.get());
  attr.attach_bpf_fd = static_cast<__u32>(program.get());
  attr.attach_type = BPF_CGROUP_DEVICE;
  // ALLOW_MULTI: programs of parents (an outer container's, systemd's) hold as well.
  attr.attach_flags = BPF_F_ALLOW_MULTI;
  if (before) {
    attr.attach_flags |= BPF_F_REPLACE;
    attr.replace_bpf_fd = static_cast<__u32>(before.get());
  }
  if (bpf(BPF_PROG_ATTACH, attr) != 0) throw_errno(cat("bpf BPF_PROG_ATTACH to ", entry.directory()), errno);
}

}  // namespace tare::cgroup
