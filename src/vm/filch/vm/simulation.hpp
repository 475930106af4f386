// Running programs on the many-core machine: what tools and tests of the virtual machine see of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "vm/machine/machine_file.hpp"

namespace filch::platform::vm {
class many_core;
}

namespace filch::vm {

using platform::vm::load_machine;
using platform::vm::machine_description;
using platform::vm::machine_names;
using platform::vm::numa_policy;
using platform::vm::scaled;

/// One virtual machine. While it exists everything of filch on this thread happens on it.
class simulation {
 public:
  /// For programs of at most `threads` threads, the first included. The seed decides all that chance decides. With
  /// several nodes, computers like this one connected by its network, each runs the program, with so many threads.
  /// @throws std::invalid_argument when the machine has no network for them.
  simulation(const machine_description& machine, std::uint64_t seed, int threads, int nodes = 1);
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  /// Runs the program on the first core, of each node, until it returns; at most once. @throws what it throws, and
  /// std::runtime_error when it deadlocks or overflows a stack, or when nodes share memory.
  void run(std::function<void()> program);

  /// Nanoseconds of work that the program has charged so far, at all nodes (filch/vm.hpp); what touched data costs is not
  /// in it.
  [[nodiscard]] double charged_ns() const;

 private:
  std::unique_ptr<platform::vm::many_core> world_;
};

/// Inside of a simulated program: virtual time of the calling thread in seconds.
[[nodiscard]] double now_s();

/// Inside of a simulated program: node of the calling thread.
[[nodiscard]] int node();

/// A program's operator new calls this with what it gives out, so that memory which one node has freed may be another's.
void note_allocation(const void* at, std::size_t bytes);

/// Inside of a simulated program: bytes by which the calling thread's stack may still grow. Outside: 0.
[[nodiscard]] std::size_t stack_left();

}  // namespace filch::vm
