// `tare box`: a container made from a few options instead of a bundle.
//
// For: turning the options and what is known of the host into an oci::Spec, which then takes the
// path of every other container.
// Not for: reading the host (box_host.cpp does, into HostView); images.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/option.hpp"
#include "oci/spec.hpp"

namespace tare::cli {

struct BoxBind {
  std::string source, destination;
  bool read_only = false;
};

struct BoxOptions {
  std::string name;
  std::string rootfs;  // empty: the host's own root
  std::vector<BoxBind> binds;
  std::optional<std::int64_t> memory;  // bytes
  std::optional<std::int64_t> cpus;    // thousandths of a CPU
  std::optional<std::int64_t> pids;
  std::string hostname = "box";
  std::string user;
  std::vector<std::string> env;  // NAME=VALUE
  std::string workdir = "/";
  bool userns = false;
  bool host_net = false;
  bool tty = false;
  bool init = false;
  bool read_only = false;
  std::string seccomp = "default";  // default, off, or a file
  bool print_spec = false;
  bool show_secrets = false;
  std::vector<std::string> args;  // empty: a shell
};

// What of the host decides the spec.
struct HostView {
  std::uint32_t euid = 0, egid = 0;
  bool tty = false;                            // standard input and output are terminals
  std::optional<oci::ConsoleSize> size;        // of the terminal on standard input
  std::string term, lang;                      // the caller's
  std::uint64_t bounding = ~std::uint64_t{0};  // of box_capabilities(), those in this process's bounding set
  std::string current_folder;
  std::vector<std::string> masked;     // secrets that exist: files, and folders shown empty
  std::vector<std::string> emptied;    // folders that get a writable tmpfs: homes, /run, /tmp
  std::vector<std::string> submounts;  // file systems below "/" that could be written to
  std::string shell = "/bin/sh";
  std::uint32_t uid = 0, gid = 0;  // of --user
  std::vector<std::uint32_t> groups;
  std::string home = "/";
  std::optional<oci::Seccomp> seccomp;  // of --seccomp
  std::string resolver;                 // where /etc/resolv.conf really lies, if --net host and it would be covered
};

// Throws kind usage. view: for what "auto" defaults depend on (tty, current folder).
BoxOptions make_box_options(const Parsed& parsed, const HostView& view);
// The caller: ids, terminal, TERM and LANG, capabilities. Cheap.
HostView look_at_caller();
// What the options need to know of the root that will be shown: secrets, shell, user, seccomp file.
void look_at_root(HostView& view, const BoxOptions& options);

// The mount points of /proc/self/mountinfo below "/" that are writable and hold files: neither those that a container
// replaces (/proc, /sys, /dev and all below) nor those inside another one of the list.
std::vector<std::string> parse_submounts(std::string_view mountinfo);

// What a box may hold, as a set of bits.
std::uint64_t box_capabilities();

// Pure.
oci::Spec make_box_spec(const BoxOptions& options, const HostView& view);

// "512M" (K, M, G, T: powers of 1024) as bytes; "1.5" as thousandths. The error names the option.
std::int64_t parse_size(std::string_view text, std::string_view option);
std::int64_t parse_cpus(std::string_view text);
// "SRC:DST[:ro]", a relative SRC below `folder`.
BoxBind parse_bind(std::string_view text, std::string_view folder);

}  // namespace tare::cli
