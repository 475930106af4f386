// Fibers: the virtual workers' threads. All run in one thread of the system, one at a time, and switch only when the
// world says so.
//
// A switch also exchanges what the language keeps per thread and a real thread would have of its own: the exceptions in
// flight and the scheduler's word for "the calling worker". Stacks lie side by side in one mapping, so that tens of
// thousands of them do not exhaust the system's table of mappings; a canary at the low end of each tells an overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "platform/mapping.hpp"
#include "vm/sanitizers.hpp"

namespace filch::platform::vm {

class fiber_set;

/// The processor may fetch those bytes.
inline void prefetch(const void* at, std::size_t bytes) noexcept {
  constexpr std::size_t host_line_bytes = 64;
  for (std::size_t i = 0; i < bytes; i += host_line_bytes) __builtin_prefetch(static_cast<const char*>(at) + i);
}

class fiber {
 public:
  fiber() = default;
  virtual ~fiber() { sanitizers::ended(sanitizer_); }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  std::uint32_t number = 0;  ///< in the order of creation
  std::function<void()> body;

 private:
  friend class fiber_set;

  void* context_ = nullptr;
  fiber_set* set_ = nullptr;
  // What the language and the scheduler keep for each thread.
  void* exceptions_ = nullptr;
  unsigned int uncaught_ = 0;
  void* self_ = nullptr;
  sanitizers::record sanitizer_;
};

/// The fibers of one world, and the program around it, which waits in `run` until the world comes back.
class fiber_set {
 public:
  /// Stacks for `most` fibers of `stack_bytes` each; only what is touched costs memory.
  fiber_set(std::size_t most, std::size_t stack_bytes);
  ~fiber_set();
  fiber_set(const fiber_set&) = delete;
  fiber_set& operator=(const fiber_set&) = delete;

  /// Gives a fiber a stack. Its body begins when it is first switched to, and must not return.
  /// @throws std::runtime_error when there are too many.
  void prepare(fiber& f);
  /// From the program around: runs the fiber until one of them calls leave().
  void run(fiber& first);
  /// From a fiber: goes on with another one.
  void switch_to(fiber& next) noexcept;
  /// From a fiber: goes back to run(), for good.
  [[noreturn]] void leave() noexcept;
  /// All stacks are free again. Whatever fibers had on theirs is abandoned.
  void reset() noexcept;

  /// The processor may fetch what the fiber needs first when somebody switches to it.
  static void prefetch_stack(const fiber& f) noexcept {
    constexpr std::size_t first_frames = 512;
    prefetch(f.context_, first_frames);
  }

  [[nodiscard]] fiber& running() const noexcept { return *running_; }
  /// Number of a fiber whose stack has overflowed into its neighbour's, or -1.
  [[nodiscard]] int overflowed() const noexcept;

 private:
  void change(fiber& to) noexcept;

  std::size_t stack_bytes_;
  std::size_t most_;
  std::size_t used_ = 0;
  std::vector<const fiber*> prepared_;  ///< have stacks
  mapping memory_;
  fiber around_;  ///< the thread itself
  fiber* running_ = &around_;
};

}  // namespace filch::platform::vm
