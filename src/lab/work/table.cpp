#include "lab/work/table.hpp"

#include <unistd.h>

namespace tare::lab {

namespace {

constexpr Entry kTable[] = {
    {"spawn", run_spawn},
    {"exec", run_exec},
    {"exec-fork", run_exec_fork},
    {"script1", run_script1},
    {"script8", run_script8},
    {"sh1", run_sh1},
    {"sh8", run_sh8},
    {"proc-walk", run_proc_walk},
    {"ps", run_ps},
    {"syscall", run_syscall},
    {"clock", run_clock},
    {"uname", run_uname},
    {"sethostname", run_sethostname},
    {"access", run_access},
    {"setuid", run_setuid},
    {"seteuid", run_seteuid},
    {"signal", run_signal},
    {"signal-pair", run_signal_pair},
    {"pipe", run_pipe},
    {"switch", run_switch},
    {"mmap", run_mmap},
    {"fault", run_fault},
    {"open", run_open},
    {"copy-256", run_copy_256},
    {"copy-1024", run_copy_1024},
    {"copy-4096", run_copy_4096},
    {"stat-1", run_stat_1},
    {"stat-4", run_stat_4},
    {"stat-16", run_stat_16},
    {"open-1", run_open_1},
    {"open-4", run_open_4},
    {"open-16", run_open_16},
    {"create-1", run_create_1},
    {"create-4", run_create_4},
    {"create-16", run_create_16},
    {"cgroup-file", run_cgroup_file},
    {"sysv-msg", run_sysv_msg},
    {"sysv-sem", run_sysv_sem},
    {"sysv-shm", run_sysv_shm},
    {"posix-mq", run_posix_mq},
    {"mq-open", run_mq_open},
    {"posix-shm", run_posix_shm},
    {"posix-sem", run_posix_sem},
    {"tcp-rr", run_tcp_rr},
    {"tcp-stream", run_tcp_stream},
    {"tcp-connect", run_tcp_connect},
    {"udp-rr", run_udp_rr},
    {"udp-stream", run_udp_stream},
    {"unix-rr", run_unix_rr},
    {"unix-stream", run_unix_stream},
    {"unix-connect", run_unix_connect},
    {"cpu-int", run_cpu_int},
    {"cpu-float", run_cpu_float},
};

std::int64_t told_owner = 0;

}  // namespace

std::span<const Entry> workloads() noexcept { return kTable; }

Run find_workload(std::string_view name) noexcept {
  for (const Entry& entry : kTable) {
    if (entry.name == name) return entry.run;
  }
  return nullptr;
}

void set_owner(std::int64_t owner) noexcept { told_owner = owner; }
std::int64_t owner() noexcept { return told_owner > 0 ? told_owner : getpid(); }

}  // namespace tare::lab
