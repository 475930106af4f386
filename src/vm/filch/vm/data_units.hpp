// The units in which the virtual machine follows what programs declare to touch, see data_memory.hpp.
#pragma once

#include <cstddef>

namespace filch::platform::vm {

inline constexpr std::size_t line_bytes = 64;    ///< what moves between caches
inline constexpr std::size_t block_bytes = 256;  ///< what a cache holds or replaces
inline constexpr std::size_t page_bytes = 4096;  ///< what belongs to one socket's memory

}  // namespace filch::platform::vm
