// A set of cores: those that hold a clean copy of a cache line. The first 64 cores take one word; the table for more
// appears with the first of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace filch::platform::vm {

class core_set {
 public:
  [[nodiscard]] bool contains(std::uint32_t core) const noexcept {
    if (core < 64) return ((few_ >> core) & 1) != 0;
    return many_ != nullptr && ((many_[core / 64] >> (core % 64)) & 1) != 0;
  }

  /// `cores`: of the machine.
  void insert(std::uint32_t core, std::uint32_t cores) {
    if (core < 64) {
      few_ |= std::uint64_t{1} << core;
      return;
    }
    if (many_ == nullptr) many_ = std::make_unique<std::uint64_t[]>((cores + 63) / 64);
    many_[core / 64] |= std::uint64_t{1} << (core % 64);
  }

  void clear(std::uint32_t cores) noexcept {
    few_ = 0;
    if (many_ != nullptr) std::fill_n(many_.get(), (cores + 63) / 64, 0);
  }

  [[nodiscard]] bool empty(std::uint32_t cores) const noexcept { return !any_in(0, cores); }

  /// Is there one from `first` to `last - 1`?
  [[nodiscard]] bool any_in(std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t i = first / 64; i * 64 < last; ++i) {
      const std::uint64_t members = i == 0 ? few_ : (many_ == nullptr ? 0 : many_[i]);
      if (members == 0) continue;
      std::uint64_t wanted = ~std::uint64_t{0};
      if (i == first / 64) wanted &= ~std::uint64_t{0} << (first % 64);
      if (last - i * 64 < 64) wanted &= (std::uint64_t{1} << (last - i * 64)) - 1;
      if ((members & wanted) != 0) return true;
    }
    return false;
  }

 private:
  std::uint64_t few_ = 0;
  std::unique_ptr<std::uint64_t[]> many_;  // its first word is not used
};

}  // namespace filch::platform::vm
