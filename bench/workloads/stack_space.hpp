// How deep a recursion may still go.
#pragma once

#include <cstddef>

namespace filch::bench {

/// Bytes that the calling thread's stack may still grow by.
std::size_t remaining_stack_bytes();

}  // namespace filch::bench
