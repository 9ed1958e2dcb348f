#include "seccomp/compile.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "seccomp/enosys.hpp"
#include "sys/fd.hpp"

namespace tare::seccomp {
namespace {

// libseccomp's binary tree makes the kernel's load and each filtered call cheaper (0.52 ms instead
// of 0.83 for podman's profile on three architectures), but longer to compile, which the cache pays
// once. Its nodes hold four calls, so below two nodes there is nothing to search; with no rule at
// all libseccomp 2.5 makes a broken program of it.
constexpr std::size_t kTreeFrom = 9;

constexpr std::uint32_t kMaxErrno = 4095;  // MAX_ERRNO: the kernel cuts what is above
constexpr std::uint32_t kArgs = 6;         // arguments of a system call

struct Release {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, Release>;

[[noreturn]] void invalid(std::string_view field, std::string_view what) {
  throw Error(ErrorKind::invalid_spec, cat("linux.seccomp.", field, ": ", what));
}

// The value for libseccomp; `field` is the prefix of the action's and its errno's field names.
std::uint32_t action_value(const std::string& action, std::optional<std::uint32_t> errno_ret, const std::string& field,
                           std::string_view errno_field) {
  const bool takes_errno = action == "SCMP_ACT_ERRNO" || action == "SCMP_ACT_TRACE";
  if (errno_ret && !takes_errno) invalid(errno_field, cat("action ", quoted(action), " takes no errno"));
  if (errno_ret.value_or(0) > kMaxErrno) invalid(errno_field, cat(*errno_ret, " is above ", kMaxErrno));
  const std::uint32_t value = errno_ret.value_or(EPERM);
  if (action == "SCMP_ACT_ALLOW") return SCMP_ACT_ALLOW;
  if (action == "SCMP_ACT_ERRNO") return SCMP_ACT_ERRNO(value);
  if (action == "SCMP_ACT_KILL" || action == "SCMP_ACT_KILL_THREAD") return SCMP_ACT_KILL_THREAD;
  if (action == "SCMP_ACT_KILL_PROCESS") return SCMP_ACT_KILL_PROCESS;
  if (action == "SCMP_ACT_TRAP") return SCMP_ACT_TRAP;
  if (action == "SCMP_ACT_TRACE") return SCMP_ACT_TRACE(value);
  if (action == "SCMP_ACT_LOG") return SCMP_ACT_LOG;
  if (action == "SCMP_ACT_NOTIFY") {
    throw Error(ErrorKind::unsupported,
                cat("linux.seccomp.", field, ": SCMP_ACT_NOTIFY is not supported yet (linux.seccomp.listenerPath)"));
  }
  invalid(field, cat("unknown action ", quoted(action)));
}

scmp_compare compare_value(const std::string& op, const std::string& field) {
  if (op == "SCMP_CMP_NE") return SCMP_CMP_NE;
  if (op == "SCMP_CMP_LT") return SCMP_CMP_LT;
  if (op == "SCMP_CMP_LE") return SCMP_CMP_LE;
  if (op == "SCMP_CMP_EQ") return SCMP_CMP_EQ;
  if (op == "SCMP_CMP_GE") return SCMP_CMP_GE;
  if (op == "SCMP_CMP_GT") return SCMP_CMP_GT;
  if (op == "SCMP_CMP_MASKED_EQ") return SCMP_CMP_MASKED_EQ;
  invalid(field, cat("unknown operator ", quoted(op)));
}

// The flags that seccomp(2) gets. No flag at all means SPEC_ALLOW, as with runc: kernels up to 5.15
// otherwise switch costly speculation controls on for every filtered process.
std::uint32_t flags_value(const std::vector<std::string>& flags) {
  if (flags.empty()) return SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    if (flag == "SECCOMP_FILTER_FLAG_LOG") {
      value |= SECCOMP_FILTER_FLAG_LOG;
    } else if (flag == "SECCOMP_FILTER_FLAG_SPEC_ALLOW") {
      value |= SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    } else if (flag != "SECCOMP_FILTER_FLAG_TSYNC" && flag != "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV") {
      // Those two are known and do nothing here: the process that loads the filter has one thread,
      // and the kernel takes WAIT_KILLABLE_RECV only together with a listener.
      invalid(cat("flags[", i, "]"), cat("unknown flag ", quoted(flag)));
    }
  }
  return value;
}

std::uint32_t arch_token(const std::string& name, const std::string& field) {
  constexpr std::string_view kPrefix = "SCMP_ARCH_";
  if (!name.starts_with(kPrefix)) invalid(field, cat("unknown architecture ", quoted(name)));
  std::string lower = name.substr(kPrefix.size());
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const std::uint32_t token = seccomp_arch_resolve_name(lower.c_str());
  if (token == 0) invalid(field, cat("libseccomp ", libseccomp_version(), " doesn't know ", quoted(name)));
  return token;
}

struct Adder {
  void* context;
  std::size_t rules = 0;

  void add(std::uint32_t action, int number, const std::vector<scmp_arg_cmp>& args, const std::string& field) {
    const int rc = seccomp_rule_add_array(context, action, number, static_cast<unsigned>(args.size()), args.data());
    if (rc != 0) invalid(field, cat("libseccomp refuses the rule: ", errno_text(-rc)));
    ++rules;
  }
};

std::vector<scmp_arg_cmp> conditions(const oci::SeccompRule& rule, const std::string& field, bool& same_index) {
  std::vector<scmp_arg_cmp> out;
  std::array<int, kArgs> seen{};
  for (std::size_t i = 0; i < rule.args.size(); ++i) {
    const oci::SeccompArg& arg = rule.args[i];
    const std::string arg_field = cat(field, ".args[", i, "]");
    if (arg.index >= kArgs) invalid(cat(arg_field, ".index"), cat(arg.index, " is above 5"));
    if (++seen[arg.index] > 1) same_index = true;
    out.push_back({.arg = arg.index,
                   .op = compare_value(arg.op, cat(arg_field, ".op")),
                   .datum_a = arg.value,
                   .datum_b = arg.value_two});
  }
  return out;
}

void add_rule(Adder& adder, const oci::SeccompRule& rule, const std::string& field, std::uint32_t default_action) {
  if (rule.names.empty()) invalid(cat(field, ".names"), "is empty");
  const std::uint32_t action =
      action_value(rule.action, rule.errno_ret, cat(field, ".action"), cat(field, ".errnoRet"));
  bool same_index = false;
  const std::vector<scmp_arg_cmp> args = conditions(rule, field, same_index);
  // A rule that says what happens anyway is no error, and libseccomp wants none such.
  if (action == default_action) return;
  for (const std::string& name : rule.names) {
    const int number = seccomp_syscall_resolve_name(name.c_str());
    if (number == __NR_SCMP_ERROR) continue;  // newer than libseccomp: the ENOSYS prologue has it
    if (!same_index) {
      adder.add(action, number, args, cat(field, " (", name, ")"));
      continue;
    }
    // Two conditions on one argument: each becomes a rule of its own, any of which suffices.
    for (const scmp_arg_cmp& arg : args) adder.add(action, number, {arg}, cat(field, " (", name, ")"));
  }
}

std::vector<sock_filter> export_program(void* context) {
  const sys::Fd file(memfd_create("seccomp", MFD_CLOEXEC));
  if (!file) throw_errno("memfd_create", errno);
  if (const int rc = seccomp_export_bpf(context, file.get()); rc != 0) throw_errno("seccomp_export_bpf", -rc);
  if (lseek(file.get(), 0, SEEK_SET) < 0) throw_errno("lseek", errno);
  const std::string bytes = sys::read_all(file, std::size_t{BPF_MAXINSNS} * 16 * sizeof(sock_filter));
  if (bytes.size() % sizeof(sock_filter) != 0)
    throw Error(ErrorKind::bug, "seccomp_export_bpf wrote half an instruction");
  std::vector<sock_filter> program(bytes.size() / sizeof(sock_filter));
  std::memcpy(program.data(), bytes.data(), bytes.size());
  return program;
}

// A text that can hold any byte stays unambiguous behind its length.
void put(std::string& out, std::string_view text) { out += cat(text.size(), ":", text, "\n"); }

}  // namespace

bool Filter::operator==(const Filter& other) const {
  return flags == other.flags && program.size() == other.program.size() &&
         std::memcmp(program.data(), other.program.data(), program.size() * sizeof(sock_filter)) == 0;
}

std::string libseccomp_version() {
  const scmp_version* v = seccomp_version();
  return cat(v->major, ".", v->minor, ".", v->micro);
}

Filter compile(const oci::Seccomp& profile) {
  if (profile.default_action.empty()) invalid("defaultAction", "is missing");
  if (!profile.listener_metadata.empty() && profile.listener_path.empty()) {
    invalid("listenerMetadata", "is set without linux.seccomp.listenerPath");
  }
  const std::uint32_t default_action =
      action_value(profile.default_action, profile.default_errno_ret, "defaultAction", "defaultErrnoRet");
  Filter filter;
  filter.flags = flags_value(profile.flags);

  const Context context(seccomp_init(default_action));
  if (!context) throw Error(ErrorKind::kernel, "seccomp_init: out of memory or action unknown to the kernel");
  std::vector<std::uint32_t> architectures = {seccomp_arch_native()};  // always in, by seccomp_init
  for (std::size_t i = 0; i < profile.architectures.size(); ++i) {
    const std::string field = cat("architectures[", i, "]");
    const std::uint32_t token = arch_token(profile.architectures[i], field);
    const int rc = seccomp_arch_add(context.get(), token);
    if (rc == -EEXIST) continue;
    if (rc != 0) invalid(field, cat(quoted(profile.architectures[i]), " can't share a filter: ", errno_text(-rc)));
    architectures.push_back(token);
  }

  Adder adder{context.get()};
  for (std::size_t i = 0; i < profile.syscalls.size(); ++i) {
    add_rule(adder, profile.syscalls[i], cat("syscalls[", i, "]"), default_action);
  }
  if (adder.rules == 0 && default_action == SCMP_ACT_ALLOW) return {};
  if (adder.rules >= kTreeFrom) seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  filter.program = export_program(context.get());
  prepend_enosys(filter.program, profile, architectures);
  if (filter.program.size() > BPF_MAXINSNS) {
    throw Error(ErrorKind::invalid_spec, cat("linux.seccomp: the program has ", filter.program.size(),
                                             " instructions, the kernel takes ", BPF_MAXINSNS));
  }
  return filter;
}

std::string serialise(const oci::Seccomp& profile) {
  std::string out;
  out.reserve(16 << 10);
  put(out, profile.default_action);
  out += profile.default_errno_ret ? cat("errno ", *profile.default_errno_ret, "\n") : "errno -\n";
  for (const auto* list : {&profile.architectures, &profile.flags}) {
    out += cat("list ", list->size(), "\n");
    for (const std::string& entry : *list) put(out, entry);
  }
  put(out, profile.listener_path);
  put(out, profile.listener_metadata);
  for (const oci::SeccompRule& rule : profile.syscalls) {
    out += cat("rule ", rule.names.size(), " ", rule.args.size(), "\n");
    for (const std::string& name : rule.names) put(out, name);
    put(out, rule.action);
    out += rule.errno_ret ? cat("errno ", *rule.errno_ret, "\n") : "errno -\n";
    for (const oci::SeccompArg& arg : rule.args) {
      out += cat("arg ", arg.index, " ", arg.value, " ", arg.value_two, " ");
      put(out, arg.op);
    }
  }
  return out;
}

}  // namespace tare::seccomp
