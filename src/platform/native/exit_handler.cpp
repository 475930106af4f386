#include "platform/exit_handler.hpp"

#include <cstdlib>

namespace filch::platform {

bool call_at_exit(void (*handler)(int status)) noexcept {
  // Not std::atexit, whose handlers are not told the status.
  return on_exit([](int status, void* to) { reinterpret_cast<void (*)(int)>(to)(status); },
                 reinterpret_cast<void*>(handler)) == 0;
}

}  // namespace filch::platform
