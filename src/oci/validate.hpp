// Whether a spec makes sense, as far as that can be said without asking the kernel.
//
// For: what parse.hpp or `box` made, before a plan is made from it.
// Not for: paths that must exist, namespaces that must be of their type, what this kernel lacks.
// Errors: kind invalid_spec, naming the field: "process.cwd: must be absolute".
// Source: runtime-spec 1.3, and what runtimes in use refuse.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oci/spec.hpp"

namespace tare::oci {

using Warnings = std::vector<std::string>;

// Throws at the first thing wrong, or, kind unsupported, at the first that is well formed and that
// tare does not do yet. A warning changes nothing.
void validate(const Spec& spec, Warnings& warnings);
// The process of `exec`: the rules that need no more than itself.
void validate_process(const Process& process, Warnings& warnings);
void validate_resources(const Resources& resources);
void validate_seccomp(const Seccomp& seccomp);

// Brings a process into the form that validate and all after it expect: of environment entries with
// one name only the last stays, in its place; capabilities that could not be granted leave their
// sets with a warning (ambient ones that are not inheritable and permitted, effective ones that are
// not permitted). parse_spec and parse_process have done this already.
void normalize(Process& process, Warnings& warnings);
// The part about the environment: for those who add to it.
void drop_repeated_env(std::vector<std::string>& env);

// A container's id: 1 to 255 of [A-Za-z0-9_+.-], not beginning with '.' or '-', since it becomes the
// name of a folder and of a cgroup, and a word on command lines. Throws kind usage.
void check_id(std::string_view id);

// A path inside the container made absolute, without empty, "." and ".." parts and without a slash
// at the end ("" and "." give "/"). By its letters only: symbolic links are not looked at.
std::string clean_path(std::string_view path);

// The file of a sysctl, below /proc/sys: "net.ipv4.ip_forward" is "net/ipv4/ip_forward". Keys with
// slashes are taken, too; one that would leave its folder is refused, kind invalid_spec.
std::string sysctl_path(std::string_view key);

}  // namespace tare::oci
