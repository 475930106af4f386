#include "processor_pause.hpp"

namespace filch::cli {

void processor_pause() noexcept { __builtin_ia32_pause(); }

}  // namespace filch::cli
