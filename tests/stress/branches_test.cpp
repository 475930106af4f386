// Branches of fork_join of all sizes, with results of all sizes: small ones live in the slot, the callable first and then
// what the thief leaves; others in the caller's frame. Whoever runs them, values and exceptions arrive whole.
#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "support.hpp"

namespace filch {
namespace {

class branches : public testing::TestWithParam<tests::configuration> {};

unsigned char byte_of(unsigned seed, std::size_t i) { return static_cast<unsigned char>(seed * 31 + i * 7 + 1); }

/// A value of that many bytes that knows whether it is whole.
template <std::size_t Bytes>
struct bytes {
  std::array<unsigned char, Bytes> all{};
  explicit bytes(unsigned seed) {
    for (std::size_t i = 0; i < Bytes; ++i) all[i] = byte_of(seed, i);
  }
  [[nodiscard]] bool is_of(unsigned seed) const {
    for (std::size_t i = 0; i < Bytes; ++i) {
      if (all[i] != byte_of(seed, i)) return false;
    }
    return true;
  }
};

/// The same, but no bytes to the compiler.
struct owner {
  std::unique_ptr<unsigned> value;
  explicit owner(unsigned seed) : value(std::make_unique<unsigned>(seed)) {}
  [[nodiscard]] bool is_of(unsigned seed) const { return value != nullptr && *value == seed; }
};

/// A tree whose inner nodes fork; every node makes a value of its number and checks those of its branches. Nodes with
/// numbers divisible by `bad` throw their number.
template <class Captured, class Result>
Result tree(unsigned number, int depth, unsigned bad) {
  if (number % bad == 0) throw number;
  if (depth == 0) return Result(number);
  const unsigned low = 2 * number;
  const unsigned high = 2 * number + 1;
  auto branch = [captured = Captured(high), depth, bad](unsigned its_number) {
    if (!captured.is_of(its_number)) throw std::size_t{its_number};
    return tree<Captured, Result>(its_number, depth - 1, bad);
  };
  const auto [first, second] = fork_join([=] { return tree<Captured, Result>(low, depth - 1, bad); },
                                         [branch = std::move(branch), high]() mutable { return branch(high); });
  if (!first.is_of(low) || !second.is_of(high)) throw std::size_t{number};
  return Result(number);
}

constexpr int depth = 7;
constexpr unsigned nobody = 1U << 20;

/// Of the nodes that throw, the leftmost one whose ancestors do not.
unsigned first_bad(unsigned number, int levels, unsigned bad) {
  if (number % bad == 0) return number;
  if (levels == 0) return 0;
  const unsigned low = first_bad(2 * number, levels - 1, bad);
  return low != 0 ? low : first_bad(2 * number + 1, levels - 1, bad);
}

template <class Captured, class Result>
void check_pair(scheduler& s) {
  tests::until_stolen(s, 3, [&] {
    ASSERT_TRUE((s.run([] { return tree<Captured, Result>(1, depth, nobody).is_of(1); })));
    for (const unsigned bad : {5U, 37U, 101U}) {
      try {
        s.run([&] { return tree<Captured, Result>(1, depth, bad).is_of(1); });
        FAIL() << "nothing was thrown";
      } catch (unsigned thrown) {
        ASSERT_EQ(thrown, first_bad(1, depth, bad));
      }
    }
  });
}

template <class Captured, std::size_t... Bytes>
void check_results(scheduler& s) {
  (check_pair<Captured, bytes<Bytes>>(s), ...);
  check_pair<Captured, owner>(s);
}

TEST_P(branches, of_all_sizes_arrive_whole) {
  scheduler s(GetParam().options());
  check_results<bytes<1>, 1, 40, 41>(s);
  check_results<bytes<24>, 16, 40, 64>(s);
  check_results<bytes<25>, 40>(s);
  check_results<bytes<60>, 8>(s);
}

TEST_P(branches, with_references_and_nothing_as_results) {
  scheduler s(GetParam().options());
  std::array<int, 2> of{};
  for (int round = 0; round != 400; ++round) {
    // Of branches that do nothing thieves get few, some policies next to none (docs/standard.md): every other round waits for one.
    const bool stolen = round % 2 == 1;
    s.run([&] {
      std::array<std::atomic<bool>, 2> begun{};
      const auto left = [&](unsigned pair) {
        if (stolen) tests::give_until(begun[pair]);
      };
      const auto& [a, b] = fork_join(
          [&]() -> int& {
            left(0);
            return of[0];
          },
          [&]() -> int& {
            begun[0] = true;
            return of[1];
          });
      ASSERT_EQ(&a, of.data());
      ASSERT_EQ(&b, &of[1]);
      int ran = 0;
      fork_join([&] { left(1); },
                [&] {
                  begun[1] = true;
                  ++ran;
                });
      ASSERT_EQ(ran, 1);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(stress, branches, testing::ValuesIn(tests::configurations({2, 4})), tests::name_of);

}  // namespace
}  // namespace filch
