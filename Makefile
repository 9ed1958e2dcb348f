# What one types. CMakePresets.json holds the configurations; each builds in build/PRESET.
#
#   make build      the release programs: build/release/{tare,tare-weigh,tare-work}
#   make test       every fast suite (at most 15 minutes on 2 cores); test-all: the slow ones too
#   make bench      start-up against other runtimes and bench/floor
#   make install    prefix=/usr/local, DESTDIR=
#   make lint | format | tidy | asan | arm64 | clean

.DEFAULT_GOAL := build
SHELL := /bin/sh

prefix ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)

CONFIGURATION := CMakeLists.txt CMakePresets.json cmake/rooms.txt
cmake_build = env -u MAKELEVEL MAKEFLAGS= cmake --build build/$(1) -j $(JOBS)

.PHONY: build dev demo test test-programs test-all bench install lint format tidy asan arm64 clean

build/%/Makefile: $(CONFIGURATION)
	cmake --preset $* >/dev/null
	@touch $@

build: build/release/Makefile
	@$(call cmake_build,release)

dev: build/dev/Makefile
	@$(call cmake_build,dev)

# A container of the host's own files and what it sees, then what it costs.
demo: build
	@tools/demo build/release

# The unit tests run under the sanitizers in `test`; `test-all` runs them without, too.
test: build test-programs asan
	@tests/run fast

test-all: build dev asan
	@tests/run all

test-programs: build/dev/Makefile
	@$(call cmake_build,dev) --target test_programs

bench: build
	@bench/run

install: build
	@DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(prefix)'

lint: build
	@tools/lint

format:
	@git ls-files -z '*.cpp' '*.hpp' | xargs -0 clang-format-19 -i

tidy:
	@cmake --preset tidy >/dev/null
	@tools/tidy build/tidy

asan: build/asan/Makefile
	@$(call cmake_build,asan) --target unit_tests

arm64:
	@tools/fetch-arm64 build/arm64-sysroot
	@$(MAKE) --no-print-directory build/arm64/Makefile
	@$(call cmake_build,arm64)

clean:
	rm -rf build/release build/dev build/asan build/tidy build/arm64 build/arm64-sysroot build/test-logs
