#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "sys/fd.hpp"

namespace tare::host {
namespace {}  // namespace

// "6.18.44-x" and "5.14-rc1"; the rest of the release is the distribution's.
facts::Version kernel_version() {
  utsname names{};
  if (::uname(&names) != 0) throw_errno("uname", errno);
  facts::Version version;
  const char* at = names.release;
  const auto number = [&] {
    int value = 0;
    for (; *at >= '0' && *at <= '9' && value < 100000; ++at) value = value * 10 + (*at - '0');
    return value;
  };
  version.major = number();
  if (*at == '.') {
    ++at;
    version.minor = number();
  }
  return version;
}

namespace {

// PROC_USER_INIT_INO of the kernel: the initial user namespace has this inode on every machine.
constexpr ino_t kInitialUserns = 4026531837;

bool in_initial_userns() {
  struct stat st{};
  if (::stat("/proc/self/ns/user", &st) != 0) {
    if (errno == ENOENT) return true;  // a kernel without user namespaces
    throw_errno("stat /proc/self/ns/user", errno);
  }
  return st.st_ino == kInitialUserns;
}

// The number after the nth tab of the line that starts with `name` in /proc/self/status.
std::uint64_t status_number(std::string_view status, std::string_view name, int column, int base) {
  const std::size_t found = status.find(name);
  if (found == std::string_view::npos)
    throw Error(ErrorKind::kernel, cat("/proc/self/status has no line ", quoted(name.substr(1))));
  std::string_view line = status.substr(found + 1);
  line = line.substr(0, line.find('\n'));
  for (; column > 0; --column) line.remove_prefix(std::min(line.find('\t'), line.size() - 1) + 1);
  const auto value = parse_number<std::uint64_t>(line.substr(0, line.find('\t')), base);
  if (!value) throw Error(ErrorKind::kernel, cat("/proc/self/status: not a number: ", quoted(line)));
  return *value;
}

// The ids and the bounding set from one file: 3 calls, where prctl would take one a capability.
void read_status(facts::Facts& facts) {
  char buffer[8192];
  const sys::Fd fd = sys::open("/proc/self/status", O_RDONLY);
  const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
  if (n < 0) throw_errno("read /proc/self/status", errno);
  const std::string_view status(buffer, static_cast<std::size_t>(n));
  facts.euid = static_cast<std::uint32_t>(status_number(status, "\nUid:", 2, 10));
  facts.egid = static_cast<std::uint32_t>(status_number(status, "\nGid:", 2, 10));
  facts.bounding_capabilities = status_number(status, "\nCapBnd:", 1, 16);
  facts.ignored_signals = status_number(status, "\nSigIgn:", 1, 16);
}

}  // namespace

facts::Facts facts(Cgroups which) {
  facts::Facts facts;
  if (which == Cgroups::wanted) facts.cgroups = cgroups();
  facts.in_initial_userns = in_initial_userns();
  read_status(facts);
  // What this process lacks nobody it starts can have: capabilities above the last one here need no dropping.
  for (int cap = 63; cap > facts.last_capability; --cap)
    if ((facts.bounding_capabilities >> cap & 1) != 0) facts.last_capability = cap;
  return facts;
}

}  // namespace tare::host
