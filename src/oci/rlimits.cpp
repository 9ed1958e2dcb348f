// Resource limits, from getrlimit(2).
#include <sys/resource.h>

#include "oci/lookup.hpp"
#include "oci/names.hpp"

namespace tare::oci {
namespace {

constexpr Named<int> kRlimits[] = {
    {"RLIMIT_AS", RLIMIT_AS},
    {"RLIMIT_CORE", RLIMIT_CORE},
    {"RLIMIT_CPU", RLIMIT_CPU},
    {"RLIMIT_DATA", RLIMIT_DATA},
    {"RLIMIT_FSIZE", RLIMIT_FSIZE},
    {"RLIMIT_LOCKS", 10},  // glibc hides it: no kernel since 2.6 heeds it
    {"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK},
    {"RLIMIT_MSGQUEUE", 12},
    {"RLIMIT_NICE", 13},
    {"RLIMIT_NOFILE", RLIMIT_NOFILE},
    {"RLIMIT_NPROC", RLIMIT_NPROC},
    {"RLIMIT_RSS", RLIMIT_RSS},
    {"RLIMIT_RTPRIO", 14},
    {"RLIMIT_RTTIME", 15},
    {"RLIMIT_SIGPENDING", 11},
    {"RLIMIT_STACK", RLIMIT_STACK},
};

}  // namespace

std::optional<int> rlimit_number(std::string_view name) { return number_in(kRlimits, name); }
std::string_view rlimit_name(int number) { return name_in(kRlimits, number); }

}  // namespace tare::oci
