#include "processor_pause.hpp"

namespace filch::cli {

// Not inlined into its callers, so that their loops are not optimised away.
void processor_pause() noexcept { asm volatile("" : : : "memory"); }

}  // namespace filch::cli
