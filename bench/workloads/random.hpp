// The random numbers of inputs: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). Same numbers everywhere, unlike the
// distributions of the standard library.
#pragma once

#include <cstdint>

namespace filch::bench {

/// A bijection that leaves no visible relation between neighbouring numbers.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class random_numbers {
 public:
  explicit constexpr random_numbers(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    return mix(state_);
  }

  /// In [0, 1).
  constexpr double next_real() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace filch::bench
