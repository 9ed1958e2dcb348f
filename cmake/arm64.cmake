# Cross-compiling for arm64 with Debian's g++-aarch64-linux-gnu. Headers that are the same on every
# architecture (RapidJSON, seccomp.h) are the host's, which that compiler searches by itself; what Debian's
# cross packages lack, libseccomp and liburcu, is put into build/arm64-sysroot by tools/fetch-arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_AR aarch64-linux-gnu-gcc-ar)
set(CMAKE_RANLIB aarch64-linux-gnu-gcc-ranlib)
include_directories(SYSTEM ${CMAKE_SOURCE_DIR}/build/arm64-sysroot/usr/include/aarch64-linux-gnu)
add_link_options(-L${CMAKE_SOURCE_DIR}/build/arm64-sysroot/usr/lib/aarch64-linux-gnu)
