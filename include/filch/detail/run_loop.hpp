// How a loop runs: the code that each has of its own. All else is the library's (src/loop/run_loop.cpp), compiled once; it
// calls the loop's code for each microsecond, or for each iteration that has loops in it.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <type_traits>

#include <filch/detail/chunk_tuner.hpp>
#include <filch/detail/loop_blocks.hpp>
#include <filch/detail/loop_code.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/loop.hpp>

namespace filch::detail {

/// Runs a chunk. A function of its own, with a copy of the block: in it the compiler sees a plain loop over locals. Aligned,
/// because otherwise it is the linker's luck how a loop of a few instructions lies: 95 or 160 ns for 1,000 floats on AMD
/// Zen 3.
///
/// Where a chunk may end anywhere, it looks around now and then: iterations may take longer than those before. No clock is read, and in
/// between the compiler sees a plain loop still.
template <class Block>
[[gnu::noinline, gnu::aligned(64)]] std::uint64_t run_chunk(const void* of, std::uint64_t low, std::uint64_t high,
                                                            chunk_looks looks, std::uint64_t& at, void* values) {
  const Block block = *static_cast<const Block*>(of);
  auto& gathered = *static_cast<typename Block::values*>(values);
  if constexpr (requires { requires Block::ends_anywhere; }) {
    for (;;) {
      const std::uint64_t end = high - low > looks.each ? low + looks.each : high;
      block.run(low, end, at, gathered);
      if (end == high || looks.at->attention.load(std::memory_order_relaxed) == nullptr) return end;  // [AT1]
      low = end;
    }
  } else {
    block.run(low, high, at, gathered);
    return high;
  }
}

/// A part of a loop that gathers values.
template <class Block>
void run_gathering_part(worker_core& w, loop_state& whole, std::uint64_t low, std::uint64_t high, std::uint32_t chunks,
                        part_origin origin) noexcept {
  typename Block::values values;
  detail::run_part(w, whole, low, high, chunks, origin, &values);
}

/// That of the loops of one type.
template <class Block>
inline constexpr loop_code code_of = [] {
  loop_code code{.run_chunk = &run_chunk<Block>, .name = detail::name_of_type<Block>()};
  using values = typename Block::values;
  if constexpr (!std::is_same_v<values, no_values>) {
    code.run_part = &run_gathering_part<Block>;
    code.begin_values = [](const void* block, std::uint64_t first, void* of) noexcept {
      static_cast<const Block*>(block)->begin(first, *static_cast<values*>(of));
    };
    code.end_values = [](const void* block, std::uint64_t end, void* of) {
      static_cast<const Block*>(block)->end(end, *static_cast<values*>(of));
    };
  }
  return code;
}();

template <class Block>
[[gnu::always_inline]] inline loop_status run_loop(const Block& block, splitting how,
                                                   const std::stop_token* stop = nullptr,
                                                   const weight_sums* weights = nullptr) {
  typename Block::values values;
  return detail::run_loop(code_of<Block>, std::addressof(block), block.size(), how, stop, weights, &values);
}

}  // namespace filch::detail
