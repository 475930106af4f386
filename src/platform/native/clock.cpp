#include "platform/clock.hpp"

namespace filch::platform {

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // "yield" takes no time on most: whoever counts pauses would wait a tenth as long
#endif
}

}  // namespace filch::platform
