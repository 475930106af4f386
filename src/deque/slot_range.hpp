// What the owner of private tasks hands to another worker, as the one word that its cell has room for.
#pragma once

#include <cstdint>

namespace filch::detail::deque {

/// `count` consecutive slots of the owner's task stack from index `first` on. No slots: look into the owner's pool of
/// pieces, something has been put there for you.
struct slot_range {
  static constexpr unsigned index_bits = 20;

  std::uint32_t first = 0;
  std::uint32_t count = 0;

  [[nodiscard]] std::uint64_t pack() const noexcept { return first | (std::uint64_t{count} << index_bits); }
  [[nodiscard]] static slot_range unpack(std::uint64_t bits) noexcept {
    constexpr std::uint64_t mask = (std::uint64_t{1} << index_bits) - 1;
    return {.first = static_cast<std::uint32_t>(bits & mask),
            .count = static_cast<std::uint32_t>((bits >> index_bits) & mask)};
  }
};

}  // namespace filch::detail::deque
