# The front door. Each target does its own set-up; "make help" lists them.

# "make SETUP=true ..." leaves the installed packages alone.
SETUP ?= scripts/setup.sh

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check-all explore format tidy package clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build everything and compare filch with serial code, oneTBB and OpenMP on this machine
	@$(SETUP) build
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target filch_cli filch_vm_cli
	@build/release/tools/filch/filch demo

test: ## what a change must pass: ThreadSanitizer, then all tests and checks of the release build
	@$(SETUP) test
	cmake --workflow --preset tsan
	cmake --preset release
	cmake --build --preset release
	@ctest --preset release

check-all: ## all sanitizers and compilers, AArch64 under qemu, and "make test" (takes long)
	@$(SETUP) all
	cmake --workflow --preset asan
	cmake --workflow --preset ubsan
	cmake --workflow --preset clang
	cmake --workflow --preset clang-tsan
	cmake --workflow --preset aarch64
	@$(MAKE) test

explore: ## explore all protocols for long, and weaken each of their memory orders (about an hour)
	@$(SETUP) test
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target filch_explore
	@build/release/tests/explore/filch_explore --seconds 15
	@build/release/tests/explore/filch_explore --mutations docs/protocols/mutations.md --seconds 20

format: ## format the C++ sources
	@$(SETUP) test
	@scripts/format.sh

tidy: ## run clang-tidy over the library, the benchmarks and the tools
	@$(SETUP) test
	@cmake --preset release --log-level=WARNING >/dev/null
	@scripts/tidy.sh build/release

package: ## write build/package/filch_<version>_<architecture>.deb
	@$(SETUP) test
	cmake --preset release
	cmake --build --preset release
	cpack --preset release

clean: ## remove all build directories
	rm -rf build
