// A loop over blocks of numbers that is compiled once, in the library: for algorithms whose blocks are worth an indirect call.
// A loop of its own for each of their types would be most of what they take to compile.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include <filch/config.hpp>

namespace filch::detail {

/// Refers to a callable f(begin, end), which lasts as long as the loop.
class block_body {
 public:
  template <class F>
    requires(!std::is_same_v<F, block_body>)
  block_body(const F& f) noexcept  // for which it stands
      : f_(std::addressof(f)), call_([](const void* of, std::uint64_t begin, std::uint64_t end) {
          (*static_cast<const F*>(of))(begin, end);
        }) {}
  void operator()(std::uint64_t begin, std::uint64_t end) const { call_(f_, begin, end); }

 private:
  const void* f_;
  void (*call_)(const void*, std::uint64_t, std::uint64_t);
};

/// Calls body(begin, end) in parallel, with blocks that together are [0, n): of many numbers that are little work each.
/// @throws what parallel_for throws.
FILCH_API void for_blocks(std::uint64_t n, block_body body);
/// The same for a few numbers that are worth a task each. Another loop, as how long its blocks are to be is remembered.
FILCH_API void for_parts(std::uint64_t n, block_body body);

}  // namespace filch::detail
