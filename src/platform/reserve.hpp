// Address space from the system, for the mappings of every platform.
#pragma once

#include <cstddef>

namespace filch::platform {

/// Zeroed, page-aligned address space whose pages appear when they are first touched.
/// @throws std::bad_alloc when there is none.
void* reserve(std::size_t bytes);
void release(void* at, std::size_t bytes) noexcept;

}  // namespace filch::platform
