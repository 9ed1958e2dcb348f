#include "cgroup/devices.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {
namespace {

std::string field_of(int index) {
  return index < 0 ? std::string("the default devices") : cat("linux.resources.devices[", index, "]");
}

std::uint32_t access_bits(std::string_view access, int index) {
  if (access.empty()) return kAllAccess;
  std::uint32_t bits = 0;
  for (const char c : access) {
    const std::uint32_t bit = c == 'r'   ? BPF_DEVCG_ACC_READ
                              : c == 'w' ? BPF_DEVCG_ACC_WRITE
                              : c == 'm' ? BPF_DEVCG_ACC_MKNOD
                                         : 0;
    if (bit == 0)
      throw Error(ErrorKind::invalid_spec, cat(field_of(index), ".access: ", quoted(access), " is not of \"rwm\""));
    bits |= bit;
  }
  return bits;
}

std::int64_t number(const std::optional<std::int64_t>& value, std::string_view name, int index) {
  if (!value || *value < 0) return kAnyNumber;
  if (*value > 0xffffffff)
    throw Error(ErrorKind::invalid_spec, cat(field_of(index), '.', name, ": ", *value, " is too large"));
  return *value;
}

// The nodes that every container needs to be usable, and making (not using) any node.
constexpr DeviceMatch allowed(char type, std::int64_t major, std::int64_t minor, std::uint32_t access = kAllAccess) {
  return {true, type, major, minor, access, -1};
}
constexpr DeviceMatch kAlways[] = {
    allowed('c', kAnyNumber, kAnyNumber, BPF_DEVCG_ACC_MKNOD),
    allowed('b', kAnyNumber, kAnyNumber, BPF_DEVCG_ACC_MKNOD),
    allowed('c', 1, 3),             // null
    allowed('c', 1, 5),             // zero
    allowed('c', 1, 7),             // full
    allowed('c', 1, 8),             // random
    allowed('c', 1, 9),             // urandom
    allowed('c', 5, 0),             // tty
    allowed('c', 5, 1),             // console
    allowed('c', 5, 2),             // ptmx
    allowed('c', 136, kAnyNumber),  // pts/*
    allowed('c', 10, 200),          // net/tun
};

bool is_everything(const DeviceMatch& m) {
  return m.type == 'a' && m.major == kAnyNumber && m.minor == kAnyNumber && m.access == kAllAccess;
}

bool within(std::int64_t inner, std::int64_t outer) { return outer == kAnyNumber || inner == outer; }
bool meet(std::int64_t a, std::int64_t b) { return a == kAnyNumber || b == kAnyNumber || a == b; }

// Is every device of `inner` one of `outer`?
bool devices_within(const DeviceMatch& inner, const DeviceMatch& outer) {
  return inner.type == outer.type && within(inner.major, outer.major) && within(inner.minor, outer.minor);
}
bool devices_meet(const DeviceMatch& a, const DeviceMatch& b) {
  return a.type == b.type && meet(a.major, b.major) && meet(a.minor, b.minor);
}

// One rule of type b or c on top of what the list says already.
void add(DeviceList& list, const DeviceMatch& rule) {
  if (rule.allow == list.allow_all) {
    for (DeviceMatch& other : list.exceptions) {
      if (!devices_meet(other, rule) || (other.access & rule.access) == 0) continue;
      if (!devices_within(other, rule))
        throw Error(ErrorKind::unsupported,
                    cat(field_of(rule.index), ": cgroup v1 can't ", rule.allow ? "allow" : "deny", " a part (",
                        device_text(rule), ") of what an earlier rule ", rule.allow ? "denies" : "allows", " (",
                        device_text(other), ")"));
      other.access &= ~rule.access;
    }
    std::erase_if(list.exceptions, [](const DeviceMatch& m) { return m.access == 0; });
    return;
  }
  for (DeviceMatch& other : list.exceptions) {
    if (devices_within(rule, other) && (rule.access & ~other.access) == 0) return;
    if (devices_within(rule, other) && devices_within(other, rule)) {
      other.access |= rule.access;
      return;
    }
  }
  list.exceptions.push_back(rule);
}

}  // namespace

std::vector<DeviceMatch> device_rules(const std::vector<oci::DeviceRule>& rules) {
  std::vector<DeviceMatch> out;
  out.reserve(rules.size() + std::size(kAlways));
  int index = 0;
  for (const oci::DeviceRule& rule : rules) {
    if (rule.type != 'a' && rule.type != 'b' && rule.type != 'c')
      throw Error(ErrorKind::invalid_spec,
                  cat(field_of(index), ".type: ", quoted(std::string_view(&rule.type, 1)), " is not a, b or c"));
    out.push_back({rule.allow, rule.type, number(rule.major, "major", index), number(rule.minor, "minor", index),
                   access_bits(rule.access, index), index});
    ++index;
  }
  out.insert(out.end(), std::begin(kAlways), std::end(kAlways));
  return out;
}

std::string device_text(const DeviceMatch& m) {
  std::string text = cat(m.type, ' ');
  text += m.major == kAnyNumber ? "*" : cat(m.major);
  text += ':';
  text += m.minor == kAnyNumber ? "*" : cat(m.minor);
  text += ' ';
  if (m.access & BPF_DEVCG_ACC_READ) text += 'r';
  if (m.access & BPF_DEVCG_ACC_WRITE) text += 'w';
  if (m.access & BPF_DEVCG_ACC_MKNOD) text += 'm';
  return text;
}

DeviceList device_list(const std::vector<DeviceMatch>& rules) {
  DeviceList list;
  for (const DeviceMatch& rule : rules) {
    if (is_everything(rule)) {
      list.allow_all = rule.allow;
      list.exceptions.clear();
    } else if (rule.type == 'a') {
      // The kernel takes 'a' for "everything" whatever follows it.
      for (const char type : {'c', 'b'}) {
        DeviceMatch half = rule;
        half.type = type;
        add(list, half);
      }
    } else {
      add(list, rule);
    }
  }
  return list;
}

DeviceList parse_device_list(const std::string& text) {
  DeviceList list;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> parts = split(line, ' ');
    if (parts.size() != 3 || parts[0].size() != 1) continue;
    if (parts[0] == "a") {
      list.allow_all = true;  // the kernel shows no exceptions then
      continue;
    }
    const std::vector<std::string_view> numbers = split(parts[1], ':');
    if (numbers.size() != 2) continue;
    list.exceptions.push_back({true, parts[0][0], parse_number<std::int64_t>(numbers[0]).value_or(kAnyNumber),
                               parse_number<std::int64_t>(numbers[1]).value_or(kAnyNumber), access_bits(parts[2], -1),
                               -1});
  }
  return list;
}

namespace {

// devices.allow or devices.deny, kept open: one write(2) a rule.
class RuleFile {
 public:
  RuleFile(const Entry& entry, bool allow) : path_(entry.directory() + (allow ? "/devices.allow" : "/devices.deny")) {}

  void write(std::string_view field, std::string_view rule, bool may_be_refused = false) {
    if (!fd_) fd_ = with_intent(field, [&] { return sys::open(path_, O_WRONLY); });
    // The newline is for those who read a fake tree; the kernel drops it.
    const int why = try_write(fd_.get(), cat(rule, '\n'));
    if (why == 0 || (why == EPERM && may_be_refused)) return;
    throw_write(field, path_, rule, why);
  }

 private:
  std::string path_;
  sys::Fd fd_;
};

bool same_devices(const DeviceMatch& a, const DeviceMatch& b) {
  return a.type == b.type && a.major == b.major && a.minor == b.minor;
}

// Changes an allow-list without a moment in which the running container has less than both lists.
void change_list(const Entry& entry, const DeviceList& now, const DeviceList& wanted) {
  RuleFile allow(entry, true), deny(entry, false);
  for (const DeviceMatch& rule : wanted.exceptions) {
    const bool there = std::any_of(now.exceptions.begin(), now.exceptions.end(), [&](const DeviceMatch& m) {
      return same_devices(m, rule) && (rule.access & ~m.access) == 0;
    });
    if (!there) allow.write(field_of(rule.index), device_text(rule), rule.index < 0);
  }
  for (DeviceMatch old : now.exceptions) {
    for (const DeviceMatch& rule : wanted.exceptions)
      if (same_devices(old, rule)) old.access &= ~rule.access;
    if (old.access != 0) deny.write("linux.resources.devices", device_text(old));
  }
}

}  // namespace

void apply_devices_v1(const Entry& entry, const std::vector<DeviceMatch>& rules, bool update) {
  const DeviceList wanted = device_list(rules);
  if (update && !wanted.allow_all) {
    const DeviceList now = parse_device_list(read(entry.directory() + "/devices.list"));
    if (!now.allow_all) return change_list(entry, now, wanted);
  }
  RuleFile same(entry, wanted.allow_all), other(entry, !wanted.allow_all);
  same.write("linux.resources.devices", "a");
  for (const DeviceMatch& rule : wanted.exceptions)
    // EPERM: the parent has less. Nothing that config.json asks for is lost by leaving a default out.
    other.write(field_of(rule.index), device_text(rule), rule.index < 0 && rule.allow);
}

}  // namespace tare::cgroup
