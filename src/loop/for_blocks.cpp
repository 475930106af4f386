#include <cstdint>

#include <filch/blocked_range.hpp>
#include <filch/detail/for_blocks.hpp>
#include <filch/parallel_for.hpp>

namespace filch::detail {

void for_blocks(std::uint64_t n, block_body body) {
  filch::parallel_for(filch::blocked_range<std::uint64_t>(0, n),
                      [body](const auto& block) { body(block.begin(), block.end()); });
}

void for_parts(std::uint64_t n, block_body body) {
  filch::parallel_for(std::uint64_t{0}, n, [body](std::uint64_t i) { body(i, i + 1); });
}

}  // namespace filch::detail
