// The numbers that sorting workloads sort, as PBBS has them: `random`, all different but for chance, and `exponential`,
// of which the commonest is one in log2 n, and half of them are among the sqrt(n) commonest.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "parse_size.hpp"
#include "random.hpp"

namespace filch::bench {

enum class key_kind { random, exponential };

/// 64 random bits each; a sort of smaller keys takes the upper ones.
class random_keys {
 public:
  random_keys(key_kind kind, std::uint64_t count, std::uint64_t seed)
      : numbers_(seed), classes_(kind == key_kind::random ? 0 : std::bit_width(count)) {}

  /// Exponential: class k, for each k equally often, has 2^k different numbers.
  std::uint64_t next() {
    const std::uint64_t number = numbers_.next();
    if (classes_ == 0) return number;
    const std::uint64_t different = std::uint64_t{1} << (number % classes_);
    return mix(different + (numbers_.next() & (different - 1)));
  }

 private:
  random_numbers numbers_;
  std::uint64_t classes_;
};

struct key_size {
  key_kind kind;
  std::uint64_t count;
};

/// "n", "random/n" or "exponential/n", where n is from 1 to `most`; otherwise throws as `reject_size` does.
key_size parse_keys(const size_context& context, std::int64_t most);

}  // namespace filch::bench
