// System calls without libc: no errno, no cancellation, no thread storage.
//
// For: the child between clone and exec. It shares its parent's memory, thread storage included, so
// a call through libc would write the parent's errno. Every function gives the kernel's answer:
// the value, or -errno.
// Not for: the parent (sys/fd.hpp and friends throw).
// Source: syscall(2), "Architecture calling conventions"; clone(2).
#pragma once

#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace tare::sys::raw {

#if defined(__x86_64__)
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// clone3(2) for a child with a stack of its own: fn(arg) runs on it and its result is the exit status.
inline long clone3(void* args, std::size_t size, int (*fn)(void*), void* arg) noexcept {
  long result;
  register int (*r12)(void*) asm("r12") = fn;
  register void* r13 asm("r13") = arg;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "mov %%eax, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n\t"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone3), "D"(args), "S"(size), "r"(r12), "r"(r13), [exit] "i"(SYS_exit_group)
      : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}

// clone(2), for where a filter forbids clone3(2): `top` is the end of the stack, `pidfd` may be nullptr.
inline long clone(unsigned long flags, void* top, int* pidfd, int (*fn)(void*), void* arg) noexcept {
  long result;
  register int (*r12)(void*) asm("r12") = fn;
  register void* r13 asm("r13") = arg;
  register long r10 asm("r10") = 0;
  register long r8 asm("r8") = 0;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "mov %%eax, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n\t"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(flags), "S"(top), "d"(pidfd), "r"(r10), "r"(r8), "r"(r12),
        "r"(r13), [exit] "i"(SYS_exit_group)
      : "rcx", "r9", "r11", "memory", "cc");
  return result;
}
#elif defined(__aarch64__)
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
}

inline long clone3(void* args, std::size_t size, int (*fn)(void*), void* arg) noexcept {
  register long x8 asm("x8") = SYS_clone3;
  register long x0 asm("x0") = reinterpret_cast<long>(args);
  register long x1 asm("x1") = static_cast<long>(size);
  register int (*x19)(void*) asm("x19") = fn;
  register void* x20 asm("x20") = arg;
  asm volatile(
      "svc 0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x20\n\t"
      "blr x19\n\t"
      "mov x8, %[exit]\n\t"
      "svc 0\n\t"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x19), "r"(x20), [exit] "i"(SYS_exit_group)
      : "memory", "cc", "x30");
  return x0;
}

inline long clone(unsigned long flags, void* top, int* pidfd, int (*fn)(void*), void* arg) noexcept {
  register long x8 asm("x8") = SYS_clone;
  register long x0 asm("x0") = static_cast<long>(flags);
  register void* x1 asm("x1") = top;
  register void* x2 asm("x2") = pidfd;
  register long x3 asm("x3") = 0;
  register long x4 asm("x4") = 0;
  register int (*x19)(void*) asm("x19") = fn;
  register void* x20 asm("x20") = arg;
  asm volatile(
      "svc 0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x20\n\t"
      "blr x19\n\t"
      "mov x8, %[exit]\n\t"
      "svc 0\n\t"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19), "r"(x20), [exit] "i"(SYS_exit_group)
      : "memory", "cc", "x30");
  return x0;
}
#else
#error "tare knows the calling conventions of x86_64 and aarch64"
#endif

inline long word(const void* p) noexcept { return reinterpret_cast<long>(p); }

}  // namespace tare::sys::raw
