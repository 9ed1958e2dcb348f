// The functions of the workloads, for the table in table.cpp. Inside lab/work only; what each does
// stands in its file.
#pragma once

#include "lab/work/workload.hpp"

namespace tare::lab {

Fault run_spawn(const Batch& batch, RunResult& result) noexcept;
Fault run_exec(const Batch& batch, RunResult& result) noexcept;
Fault run_exec_fork(const Batch& batch, RunResult& result) noexcept;
Fault run_script1(const Batch& batch, RunResult& result) noexcept;
Fault run_script8(const Batch& batch, RunResult& result) noexcept;
Fault run_sh1(const Batch& batch, RunResult& result) noexcept;
Fault run_sh8(const Batch& batch, RunResult& result) noexcept;
Fault run_proc_walk(const Batch& batch, RunResult& result) noexcept;
Fault run_ps(const Batch& batch, RunResult& result) noexcept;
Fault run_syscall(const Batch& batch, RunResult& result) noexcept;
Fault run_clock(const Batch& batch, RunResult& result) noexcept;
Fault run_uname(const Batch& batch, RunResult& result) noexcept;
Fault run_sethostname(const Batch& batch, RunResult& result) noexcept;
Fault run_access(const Batch& batch, RunResult& result) noexcept;
Fault run_setuid(const Batch& batch, RunResult& result) noexcept;
Fault run_seteuid(const Batch& batch, RunResult& result) noexcept;
Fault run_signal(const Batch& batch, RunResult& result) noexcept;
Fault run_signal_pair(const Batch& batch, RunResult& result) noexcept;
Fault run_pipe(const Batch& batch, RunResult& result) noexcept;
Fault run_switch(const Batch& batch, RunResult& result) noexcept;
Fault run_mmap(const Batch& batch, RunResult& result) noexcept;
Fault run_fault(const Batch& batch, RunResult& result) noexcept;
Fault run_open(const Batch& batch, RunResult& result) noexcept;
Fault run_copy_256(const Batch& batch, RunResult& result) noexcept;
Fault run_copy_1024(const Batch& batch, RunResult& result) noexcept;
Fault run_copy_4096(const Batch& batch, RunResult& result) noexcept;
Fault run_stat_1(const Batch& batch, RunResult& result) noexcept;
Fault run_stat_4(const Batch& batch, RunResult& result) noexcept;
Fault run_stat_16(const Batch& batch, RunResult& result) noexcept;
Fault run_open_1(const Batch& batch, RunResult& result) noexcept;
Fault run_open_4(const Batch& batch, RunResult& result) noexcept;
Fault run_open_16(const Batch& batch, RunResult& result) noexcept;
Fault run_create_1(const Batch& batch, RunResult& result) noexcept;
Fault run_create_4(const Batch& batch, RunResult& result) noexcept;
Fault run_create_16(const Batch& batch, RunResult& result) noexcept;
Fault run_cgroup_file(const Batch& batch, RunResult& result) noexcept;
Fault run_sysv_msg(const Batch& batch, RunResult& result) noexcept;
Fault run_sysv_sem(const Batch& batch, RunResult& result) noexcept;
Fault run_sysv_shm(const Batch& batch, RunResult& result) noexcept;
Fault run_posix_mq(const Batch& batch, RunResult& result) noexcept;
Fault run_mq_open(const Batch& batch, RunResult& result) noexcept;
Fault run_posix_shm(const Batch& batch, RunResult& result) noexcept;
Fault run_posix_sem(const Batch& batch, RunResult& result) noexcept;
Fault run_tcp_rr(const Batch& batch, RunResult& result) noexcept;
Fault run_tcp_stream(const Batch& batch, RunResult& result) noexcept;
Fault run_tcp_connect(const Batch& batch, RunResult& result) noexcept;
Fault run_udp_rr(const Batch& batch, RunResult& result) noexcept;
Fault run_udp_stream(const Batch& batch, RunResult& result) noexcept;
Fault run_unix_rr(const Batch& batch, RunResult& result) noexcept;
Fault run_unix_stream(const Batch& batch, RunResult& result) noexcept;
Fault run_unix_connect(const Batch& batch, RunResult& result) noexcept;
Fault run_cpu_int(const Batch& batch, RunResult& result) noexcept;
Fault run_cpu_float(const Batch& batch, RunResult& result) noexcept;

// The roles in which tare-work is executed by a script; -1: the arguments name none.
int script_main(int argc, char** argv) noexcept;

std::int64_t visible_pids() noexcept;  // in the /proc that is seen here

}  // namespace tare::lab
