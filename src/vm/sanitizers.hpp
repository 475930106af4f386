// What sanitizers have to be told about fibers. Without a sanitizer all of it is empty.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define FILCH_VM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FILCH_VM_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define FILCH_VM_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FILCH_VM_TSAN 1
#endif

#ifdef FILCH_VM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FILCH_VM_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace filch::platform::vm::sanitizers {

/// What is kept of one fiber.
struct record {
  void* fake_stack = nullptr;    ///< AddressSanitizer's
  const void* bottom = nullptr;  ///< of its stack
  std::size_t bytes = 0;
  void* tsan = nullptr;
  bool made = false;  ///< tsan is not the thread's own
};

inline void created([[maybe_unused]] record& r, void* bottom, std::size_t bytes) noexcept {
  r.bottom = bottom;
  r.bytes = bytes;
#ifdef FILCH_VM_ASAN
  r.fake_stack = nullptr;
#endif
#ifdef FILCH_VM_TSAN
  // Never used twice: a fiber does not return from its functions, which ThreadSanitizer keeps a stack of.
  if (r.made) __tsan_destroy_fiber(r.tsan);
  r.tsan = __tsan_create_fiber(0);
  r.made = true;
#endif
}

/// The fiber stopped at `sp` and never goes on: takes the poison off its frames, for whoever has the memory next.
inline void abandoned([[maybe_unused]] const record& r, [[maybe_unused]] const void* sp) noexcept {
#ifdef FILCH_VM_ASAN
  const auto* const top = static_cast<const char*>(r.bottom) + r.bytes;
  ASAN_UNPOISON_MEMORY_REGION(sp, static_cast<std::size_t>(top - static_cast<const char*>(sp)));
#endif
}

inline void ended([[maybe_unused]] record& r) noexcept {
#ifdef FILCH_VM_TSAN
  if (r.made) __tsan_destroy_fiber(r.tsan);
#endif
}

/// Right before the switch.
inline void leaving([[maybe_unused]] record& from, [[maybe_unused]] record& to) noexcept {
#ifdef FILCH_VM_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.bytes);
#endif
#ifdef FILCH_VM_TSAN
  if (from.tsan == nullptr) from.tsan = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
}

/// Right after it, on the other stack.
inline void arrived([[maybe_unused]] record& from, [[maybe_unused]] record& here) noexcept {
#ifdef FILCH_VM_ASAN
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &bytes);
  if (from.bottom == nullptr) {  // the thread's own stack, which nobody knew before
    from.bottom = bottom;
    from.bytes = bytes;
  }
#endif
}

}  // namespace filch::platform::vm::sanitizers
