// The platform seam on the virtual machine: interrupting a virtual thread.
#pragma once

#include "vm/world.hpp"

namespace filch::platform {

/// A thread that can be interrupted.
using thread_id = vm::fiber*;
inline constexpr thread_id no_thread = nullptr;

[[nodiscard]] inline thread_id current_thread() noexcept { return vm::world::current()->current_thread(); }

/// Threads that are interrupted call `handler` from now on, while this world exists.
inline void handle_interrupts(void (*handler)() noexcept) noexcept { vm::world::current()->handle_interrupts(handler); }

/// No thread blocks signals.
inline void accept_interrupts() noexcept {}

/// Interrupts that thread; it may have ended.
inline bool interrupt(thread_id whom) noexcept { return whom != nullptr && vm::world::current()->interrupt(*whom); }

}  // namespace filch::platform
