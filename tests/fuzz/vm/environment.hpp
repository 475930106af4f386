// What the interpreter needs of the machine it runs on, which is the explorer's. The other is in ../native.
#pragma once

#include <functional>
#include <string>

#include <filch/platform/memory.hpp>

#include "platform/thread.hpp"
#include "vm/explorer/explorer.hpp"

namespace filch::fuzz {

[[noreturn]] inline void fail(const std::string& what) {
  platform::vm::check(false, what);
  std::abort();
}

using platform::mutex;

class thread {
 public:
  explicit thread(std::function<void()> body) : thread_(0, std::move(body)) {}
  void join() { thread_.join(); }

 private:
  platform::thread thread_;
};

template <class T>
using plain = platform::shared<T>;

/// The explorer looks for overflowing stacks itself.
inline constexpr bool measures_stack = false;

inline void linger(int /*us*/) {}

}  // namespace filch::fuzz
