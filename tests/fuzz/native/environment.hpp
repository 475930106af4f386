// What the interpreter needs of the machine it runs on, which is a real one. The other is in ../vm.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <filch/platform/memory.hpp>

#include "subprocess.hpp"

namespace filch::fuzz {

[[noreturn]] inline void fail(const std::string& what) { end_child(what); }

using mutex = std::mutex;

class thread {
 public:
  explicit thread(std::function<void()> body) : thread_(std::move(body)) {}
  void join() { thread_.join(); }

 private:
  std::thread thread_;
};

/// Plain data that one task writes and another reads.
template <class T>
using plain = platform::shared<T>;

inline constexpr bool measures_stack = true;

/// Takes about that many microseconds, and lets others go on now and then.
inline void linger(int us) {
  constexpr int steps_per_us = 300;
  for (int k = 0; k < us * steps_per_us; ++k) {
    volatile int sink = k;
    static_cast<void>(sink);
    if (k % (30 * steps_per_us) == 20 * steps_per_us) std::this_thread::yield();
  }
}

}  // namespace filch::fuzz
