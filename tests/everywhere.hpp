// What the tests of algorithms share: schedulers on which a result must be the same, and elements that are counted.
#pragma once

#include <atomic>
#include <memory>
#include <ostream>
#include <vector>

#include <filch/scheduler.hpp>

namespace filch::tests {

/// Schedulers with 1, 2, 3 and 8 workers, of the policies lace and chase_lev. Made once: idle they only sleep.
inline const std::vector<std::unique_ptr<scheduler>>& all_schedulers() {
  static const auto all = [] {
    std::vector<std::unique_ptr<scheduler>> made;
    for (const char* policy : {"lace", "chase_lev"}) {
      for (const int workers : {1, 2, 3, 8}) {
        made.push_back(std::make_unique<scheduler>(options{.workers = workers, .policy = policy}));
      }
    }
    return made;
  }();
  return all;
}

/// The result of f() on each of them must be equal to that on the first. @return that result.
template <class F, class Expect>
auto same_everywhere(const F& f, const Expect& expect_equal) {
  const auto first = all_schedulers().front()->run(f);
  for (const auto& other : all_schedulers()) expect_equal(other->run(f), first);
  return first;
}

/// A number that counts how many of its kind exist. It has no default constructor.
class counted {
 public:
  static inline std::atomic<long> alive{0};

  explicit counted(long number) : value(number) { ++alive; }
  counted(const counted& other) : value(other.value) { ++alive; }
  counted(counted&& other) noexcept : value(other.value) {
    other.value = moved_from;
    ++alive;
  }
  counted& operator=(const counted&) = default;
  counted& operator=(counted&& other) noexcept {
    value = other.value;
    if (this != &other) other.value = moved_from;
    return *this;
  }
  ~counted() { --alive; }

  friend auto operator<=>(const counted&, const counted&) = default;
  friend std::ostream& operator<<(std::ostream& out, const counted& c) { return out << c.value; }

  static constexpr long moved_from = -1'000'000'007;
  long value;
};

/// x -> factor * x + shift, modulo 2^32. Composition is associative but not commutative.
struct affine {
  unsigned factor = 1;
  unsigned shift = 0;

  /// First f, then g.
  friend affine operator*(const affine& f, const affine& g) {
    return {g.factor * f.factor, g.factor * f.shift + g.shift};
  }
  friend bool operator==(const affine&, const affine&) = default;
  friend std::ostream& operator<<(std::ostream& out, const affine& f) { return out << f.factor << "x+" << f.shift; }
  static affine number(std::size_t i) { return {2 * static_cast<unsigned>(i % 1000) + 3, static_cast<unsigned>(i)}; }
};

}  // namespace filch::tests
