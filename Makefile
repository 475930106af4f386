# The front door. Each target does its own set-up; "make help" lists them.

# "make SETUP=true ..." leaves the installed packages alone.
SETUP ?= scripts/setup.sh

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)
export CTEST_PARALLEL_LEVEL ?= $(CMAKE_BUILD_PARALLEL_LEVEL)
# The parts of check-all; each is to take less than an hour on two processors.
checks = check-tsan check-release check-asan check-ubsan check-clang check-gcc-tsan check-aarch64 check-explore \
  check-mutations check-tidy

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check-all $(checks) build-explore explore format tidy package clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build the command line program and compare filch with serial code, oneTBB and OpenMP on this machine
	@$(SETUP) build
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target filch_cli
	@build/release/tools/filch/filch demo

test: ## what a change must pass: ThreadSanitizer, then all tests and checks of the release build
	@$(SETUP) test
	cmake --workflow --preset tsan
	cmake --preset release
	cmake --build --preset release
	@ctest --preset release

check-all: $(checks) test ## all of the following, and "make test" (takes hours)

check-tsan: ## every policy with every join and number of workers, under ThreadSanitizer
	@$(SETUP) test
	cmake --preset tsan -DFILCH_FUZZ_LONG=ON
	cmake --build --preset tsan-full
	@ctest --preset tsan-full

check-release: ## every policy with every join and number of workers, optimised
	@$(SETUP) test
	cmake --preset release -DFILCH_FUZZ_LONG=ON
	cmake --build --preset release
	@ctest --preset release-full

check-asan: ## the same under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(SETUP) test
	cmake --workflow --preset asan

check-ubsan: ## the tests under UndefinedBehaviorSanitizer alone, on optimised code
	@$(SETUP) test
	cmake --workflow --preset ubsan

check-clang: ## the tests, compiled by clang++
	@$(SETUP) all
	cmake --workflow --preset clang

check-gcc-tsan: ## the tests under g++'s ThreadSanitizer
	@$(SETUP) test
	cmake --workflow --preset gcc-tsan

check-aarch64: ## the tests, compiled for AArch64, under qemu
	@$(SETUP) all
	cmake --workflow --preset aarch64

explore = build/release/tests/explore/filch_explore

build-explore:
	@$(SETUP) test
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target filch_explore

check-explore: build-explore ## explore every protocol for long, with every strategy
	@$(explore) --list | awk '{ print $$1 }' | xargs -P $(CMAKE_BUILD_PARALLEL_LEVEL) -n 4 $(explore) --seconds 5

check-mutations: build-explore ## weaken each memory order, and write the table of who noticed
	@$(explore) --mutations docs/protocols/mutations.md --seconds 20

check-tidy: ## clang-tidy with its static analyzer
	@$(MAKE) tidy

explore: check-explore check-mutations ## both explorations

format: ## format the C++ sources
	@$(SETUP) test
	@scripts/format.sh

tidy: ## run clang-tidy with its static analyzer over the library, the benchmarks and the tools
	@$(SETUP) test
	@cmake --preset release --log-level=WARNING >/dev/null
	@scripts/tidy.py build/release

package: ## write build/package/filch_<version>_<architecture>.deb
	@$(SETUP) test
	cmake --preset release
	cmake --build --preset release
	cpack --preset release

clean: ## remove all build directories
	rm -rf build
