// The platform seam on the virtual machine: threads are fibers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "vm/world.hpp"

namespace filch::platform {

class mutex {
 public:
  mutex() {
    if (vm::world* const w = vm::world::current()) w->begin(stamp);
  }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  void lock() {
    if (vm::world* const w = vm::world::current()) w->lock(*this);
  }
  void unlock() {
    if (vm::world* const w = vm::world::current()) w->unlock(*this);
  }

  // The world's.
  vm::fiber* holder = nullptr;
  vm::word stamp = 0;  ///< an atomic object, through which holders synchronise
};

class thread {
 public:
  /// `processor`: that it runs on; -1: the world chooses.
  thread(std::size_t /*stack_bytes*/, std::function<void()> body, int processor = -1, const std::string& /*name*/ = {})
      : fiber_(processor < 0 ? vm::world::current()->start(std::move(body))
                             : vm::world::current()->start_on(processor, std::move(body))) {}
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;
  void join() noexcept { vm::world::current()->join(*fiber_); }
  [[nodiscard]] bool is_of_this_process() const noexcept { return fiber_ != nullptr; }

 private:
  vm::fiber* fiber_;
};

/// Fibers have the stacks that the world gives them.
inline constexpr std::size_t small_stack_bytes = 0;
inline std::size_t worker_stack_bytes() noexcept { return 0; }

inline unsigned long long random_seed(unsigned long long stream) noexcept { return vm::world::current()->seed(stream); }

}  // namespace filch::platform
