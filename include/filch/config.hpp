// The one header in which macros decide something.
#pragma once

// FILCH_CHECKS: 1 to check contracts on the fast path as well, as debugging and sanitizer builds do. Without a word
// from the build, unoptimised code checks. A program may mix both.
#ifndef FILCH_CHECKS
#if !defined(NDEBUG) && !defined(__OPTIMIZE__)
#define FILCH_CHECKS 1
#else
#define FILCH_CHECKS 0
#endif
#endif

// What a shared library exports. All else in it is hidden.
#define FILCH_API [[gnu::visibility("default")]]

namespace filch::detail {

inline constexpr bool checks = FILCH_CHECKS != 0;

}  // namespace filch::detail
