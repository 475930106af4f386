#include "scheduler/ticker.hpp"

#include "platform/clock.hpp"

namespace filch::detail {
ticker::ticker(interrupter& by, const sleepers& idle, std::int64_t every_ns)
    : by_(by), idle_(idle), every_ns_(every_ns), thread_(platform::small_stack_bytes, [this] { run(); }) {}

ticker::~ticker() {
  if (!thread_.is_of_this_process()) return;         // in a child process after fork()
  stopping_.store(true, std::memory_order_relaxed);  // [TK1] relaxed: seen after the token, which unpark releases
  parker_.unpark();
  thread_.join();
}

void ticker::enter() noexcept {
  // [TK2] relaxed: who finds 0 leaves a token, and releases its own change with it.
  if (inside_.fetch_add(1, std::memory_order_relaxed) == 0) parker_.unpark();
}

void ticker::leave() noexcept { inside_.fetch_sub(1, std::memory_order_relaxed); }  // [TK2]

void ticker::run() noexcept {
  while (!stopping_.load(std::memory_order_relaxed)) {   // [TK1]
    if (inside_.load(std::memory_order_relaxed) == 0) {  // [TK2]
      parker_.park();
      continue;
    }
    parker_.park_until(platform::now_ns() + every_ns_);
    if (idle_.anybody()) by_.interrupt_all_asked();
  }
}

}  // namespace filch::detail
