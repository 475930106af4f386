// The platform seam: threads and locks.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include <pthread.h>

#include "platform/process.hpp"

namespace filch::platform {

using mutex = std::mutex;

/// A thread with a stack of at least the given size. Joined explicitly; not movable.
class thread {
 public:
  /// Starts `body`, bound to that processor; -1: where the system likes. `name`: what debuggers call it, at most 15
  /// characters. Throws std::system_error when the system has no thread left.
  thread(std::size_t stack_bytes, std::function<void()> body, int processor = -1, const std::string& name = {});
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;
  /// Waits until it has ended.
  void join() noexcept;
  /// False in a child process after fork(), where it does not exist.
  [[nodiscard]] bool is_of_this_process() const noexcept;

 private:
  std::function<void()> body_;
  process_id process_;
  pthread_t handle_{};
};

/// Stack size of a thread that runs nobody's tasks, in bytes.
inline constexpr std::size_t small_stack_bytes = std::size_t{256} << 10;

/// Stack size of a worker's thread, in bytes: the process's own limit, and at least 64 MiB, because a thief runs tasks
/// as deep as their owner would have. Only pages that are touched cost memory.
std::size_t worker_stack_bytes() noexcept;

/// A seed for victim selection that differs between the workers of a process.
unsigned long long random_seed(unsigned long long stream) noexcept;

}  // namespace filch::platform
