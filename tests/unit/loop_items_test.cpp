// Whatever a serial loop goes through and calls, a parallel one does: containers, views, and bodies of all kinds.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <forward_list>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

struct counter {
  int count = 0;
  void add() { ++count; }
  [[nodiscard]] int twice() const { return 2 * count; }
};

class loop_items : public testing::TestWithParam<int> {
 protected:
  scheduler pool_{{.workers = GetParam()}};
};

/// Adds one to each element by a parallel loop over the range, and says how many have another value than by a serial one.
template <class Container>
std::size_t wrong_after_adding(scheduler& pool, Container parallel) {
  Container serial = parallel;
  for (auto& x : serial) ++x;
  pool.run([&] { parallel_for(parallel, [](auto& x) { ++x; }); });
  std::size_t wrong = 0;
  auto expected = serial.begin();
  for (const auto& x : parallel) wrong += x != *expected++ ? 1 : 0;
  return wrong;
}

TEST_P(loop_items, containers_of_all_kinds_and_sizes) {
  // Around 1, and around the number of landmarks and twice that.
  for (const std::size_t n : {0, 1, 2, 3, 1000, 8191, 8192, 8193, 16384, 16385, 50001}) {
    std::vector<long> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0L);
    EXPECT_EQ(wrong_after_adding(pool_, numbers), 0U) << n;
    EXPECT_EQ(wrong_after_adding(pool_, std::deque<long>(numbers.begin(), numbers.end())), 0U) << n;
    EXPECT_EQ(wrong_after_adding(pool_, std::list<long>(numbers.begin(), numbers.end())), 0U) << n;
    EXPECT_EQ(wrong_after_adding(pool_, std::forward_list<long>(numbers.begin(), numbers.end())), 0U) << n;
  }
  std::array<int, 5> array{};
  EXPECT_EQ(wrong_after_adding(pool_, array), 0U);
}

/// Counts in digits, which are in a vector: not every iterator is a pointer in disguise.
struct digits {
  using value_type = long;
  using difference_type = std::ptrdiff_t;

  explicit digits(long first = 0) {
    for (; first != 0; first /= 10) lowest_first.push_back(static_cast<int>(first % 10));
  }
  long operator*() const {
    return std::accumulate(lowest_first.rbegin(), lowest_first.rend(), 0L, [](long n, int d) { return 10 * n + d; });
  }
  digits& operator++() {
    for (int& d : lowest_first) {
      if (++d != 10) return *this;
      d = 0;
    }
    lowest_first.push_back(1);
    return *this;
  }
  digits operator++(int) {
    digits before = *this;
    ++*this;
    return before;
  }
  bool operator==(const digits&) const = default;

  std::vector<int> lowest_first;
};

TEST_P(loop_items, iterators_that_own_memory) {
  for (const long n : {1L, 8192L, 8193L, 20000L, 50001L}) {
    std::atomic<long> sum = 0;
    pool_.run([&] { parallel_for(digits(1), digits(n + 1), [&](long i) { sum += i; }); });
    EXPECT_EQ(sum, n * (n + 1) / 2);
  }
}

TEST_P(loop_items, maps_arrays_and_iterators_with_sentinels) {
  std::map<int, int> squares;
  for (int i = 0; i != 500; ++i) squares[i] = 0;
  pool_.run(
      [&] { parallel_for(squares.begin(), squares.end(), [](auto& pair) { pair.second = pair.first * pair.first; }); });
  for (const auto& [i, square] : squares) EXPECT_EQ(square, i * i);

  int plain[100] = {};
  pool_.run([&] { parallel_for(plain, [](int& x) { x = 7; }); });
  EXPECT_EQ(std::accumulate(std::begin(plain), std::end(plain), 0), 700);

  std::vector<int> numbers(100, 1);
  std::atomic<int> sum = 0;
  pool_.run([&] {
    parallel_for(std::counted_iterator(numbers.begin(), 30), std::default_sentinel, [&](int x) { sum += x; });
    parallel_for(numbers.cbegin(), numbers.cend(), [&](const int& x) { sum += x; });
    parallel_for(numbers.end(), numbers.begin(), [&](int) { sum += 1000; });  // nothing, as with numbers
  });
  EXPECT_EQ(sum, 130);
}

TEST_P(loop_items, views) {
  std::vector<int> numbers(3000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto sum_of = [&](auto&& view) {
    std::atomic<long> sum = 0;
    pool_.run([&] { parallel_for(view, [&](long x) { sum += x; }); });
    return sum.load();
  };
  const auto serial_of = [](auto&& view) {
    long sum = 0;
    for (const long x : view) sum += x;
    return sum;
  };
  const auto expect_same = [&](auto view) { EXPECT_EQ(sum_of(view), serial_of(view)); };
  expect_same(std::views::iota(0, 3000));
  expect_same(std::views::iota(5L, 5L));
  expect_same(numbers | std::views::reverse);
  expect_same(numbers | std::views::drop(17) | std::views::take(1000));
  expect_same(numbers | std::views::filter([](int x) { return x % 3 == 0; }));
  expect_same(numbers | std::views::transform([](int x) { return x * x; }));
  expect_same(numbers | std::views::take_while([](int x) { return x < 1234; }));
  std::vector<std::vector<int>> rows(50, std::vector<int>(30, 2));
  expect_same(rows | std::views::join);
  EXPECT_EQ(pool_.run([&] {
    return parallel_reduce(numbers | std::views::transform([](int x) { return x + 1L; }), 0L, [](long x) { return x; });
  }),
            3000L * 3001 / 2);
  // Pairs of elements, as zip makes them.
  std::vector<int> doubled(numbers.size());
  const auto pairs = std::views::iota(std::size_t{0}, numbers.size()) | std::views::transform([&](std::size_t i) {
                       return std::pair<int&, int&>(numbers[i], doubled[i]);
                     });
  pool_.run([&] { parallel_for(pairs, [](auto&& pair) { pair.second = 2 * pair.first; }); });
  for (std::size_t i = 0; i != numbers.size(); ++i) ASSERT_EQ(doubled[i], 2 * numbers[i]);
}

TEST_P(loop_items, bodies_of_all_kinds) {
  std::vector<counter> counters(1000);
  pool_.run([&] { parallel_for(counters, &counter::add); });
  EXPECT_EQ(pool_.run([&] { return parallel_reduce(counters, 0, &counter::twice); }), 2000);
  EXPECT_EQ(pool_.run([&] { return parallel_reduce(counters.begin(), counters.end(), 0, &counter::count); }), 1000);

  std::atomic<int> calls = 0;
  const std::function<void(int)> wrapped = [&](int) { ++calls; };
  pool_.run([&] { parallel_for(0, 100, wrapped); });
  pool_.run([&] { parallel_for(0, 100, [&, only = std::make_unique<int>(1)](int) { calls += *only; }); });
  struct uncopyable {
    explicit uncopyable(std::atomic<int>& of) : calls(of) {}
    uncopyable(const uncopyable&) = delete;
    uncopyable& operator=(const uncopyable&) = delete;
    void operator()(int /*i*/) const { ++calls; }
    std::atomic<int>& calls;
  };
  const uncopyable constant(calls);
  pool_.run([&] { parallel_for(0, 100, constant); });
  pool_.run([&] { parallel_for(0, 100, uncopyable(calls)); });
  EXPECT_EQ(calls, 400);
}

TEST_P(loop_items, bits_are_changed_in_whole_words) {
  for (const std::size_t from : {0, 1, 63, 64, 65, 100}) {
    for (const std::size_t to : {100, 101, 128, 4000, 9999}) {
      std::vector<bool> bits(10000, false);
      const auto first = bits.begin() + static_cast<std::ptrdiff_t>(from);
      const auto last = bits.begin() + static_cast<std::ptrdiff_t>(to);
      for (const splitting how :
           {splitting{}, splitting(loop::simple{.grain = 1}), splitting(loop::dynamic{.grain = 70})}) {
        pool_.run([&] { parallel_for(first, last, [](auto&& bit) { bit = !bit; }, how); });
      }
      for (std::size_t i = 0; i != bits.size(); ++i)
        ASSERT_EQ(bits[i], from <= i && i < to) << from << ' ' << to << ' ' << i;
    }
  }
  std::vector<bool> all(1000, true);
  EXPECT_EQ(pool_.run([&] { return parallel_reduce(all, 0, [](bool bit) { return bit ? 1 : 0; }); }), 1000);
}

/// Negates the bits [from, size) by each way that there is to a vector's bits. @return those that it left wrong.
template <class Negate>
std::vector<std::size_t> wrong_bits(std::size_t size, std::size_t from, const Negate& negate) {
  std::vector<bool> bits(size, false);
  negate(bits.begin() + static_cast<std::ptrdiff_t>(from), bits.end());
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i != size; ++i) {
    if (bits[i] != (i >= from)) wrong.push_back(i);
  }
  return wrong;
}

TEST_P(loop_items, bits_in_reverse_in_ranges_and_in_views_are_changed_in_whole_words) {
  const auto flip = [](auto&& bit) { bit = !bit; };
  const auto flip_part = [&](const auto& part) {
    for (auto i = part.begin(); i != part.end(); ++i) flip(*i);
  };
  const std::vector<splitting> ways{{},
                                    loop::simple{.grain = 1},
                                    loop::dynamic{.grain = 70},
                                    loop::fixed{},
                                    {.grain = std::numeric_limits<std::size_t>::max()}};
  const std::vector<double> hints(20'002);
  pool_.run([&] {
    for (const std::size_t size : {101, 1000, 4000, 20'001}) {
      for (const std::size_t from : {0, 1, 63, 64, 65, 100}) {
        const auto expect = [&](const auto& negate) {
          EXPECT_EQ(wrong_bits(size, from, negate), std::vector<std::size_t>()) << size << ' ' << from;
        };
        for (const splitting& how : ways) {
          expect([&](auto first, auto last) {
            parallel_for(std::reverse_iterator(last), std::reverse_iterator(first), flip, how);
          });
          expect([&](auto first, auto last) {
            parallel_for(std::ranges::subrange(first, last) | std::views::reverse, flip, how);
          });
          expect([&](auto first, auto last) {
            parallel_for(std::ranges::subrange(first, last) | std::views::take_while(std::logical_not<>()), flip, how);
          });
          expect([&](auto first, auto last) { parallel_for(blocked_range(first, last, 3), flip_part, how); });
          expect([&](auto first, auto last) {
            parallel_for(blocked_range(std::reverse_iterator(last), std::reverse_iterator(first)), flip_part, how);
          });
        }
        expect([&](auto first, auto last) {
          parallel_for(std::reverse_iterator(last), std::reverse_iterator(first), flip, weights(hints));
        });
        expect([&](auto first, auto last) { parallel_for(blocked_range(first, last), flip_part, weights(hints)); });
      }
    }
  });
}

TEST_P(loop_items, parts_of_a_range_of_bits_have_its_grain) {
  std::vector<bool> bits(10'000);
  std::mutex mutex;
  std::vector<std::ptrdiff_t> begins;
  std::ptrdiff_t all = 0;
  pool_.run([&] {
    parallel_for(blocked_range(bits.begin() + 10, bits.end(), 100), [&](const auto& part) {
      const std::lock_guard lock(mutex);
      begins.push_back(part.begin() - bits.begin());
      all += part.end() - part.begin();
      EXPECT_EQ(part.grainsize(), 100U);
    });
  });
  EXPECT_EQ(all, 9990);
  std::sort(begins.begin(), begins.end());
  EXPECT_EQ(begins.front(), 10);
  for (std::size_t i = 1; i != begins.size(); ++i) EXPECT_EQ(begins[i] % 128, 0);
}

TEST_P(loop_items, bits_that_are_only_read_may_come_from_any_view) {
  std::vector<bool> bits(1000);
  for (std::size_t i = 0; i < bits.size(); i += 3) bits[i] = true;
  const std::vector<bool>& constant = bits;
  const auto is_set = [](bool bit) { return bit; };
  std::atomic<int> set = 0;
  const auto count = [&](bool bit) { set += bit ? 1 : 0; };
  pool_.run([&] {
    parallel_for(constant | std::views::filter(is_set), count);
    parallel_for(bits | std::views::transform(is_set), count);
    parallel_for(constant.rbegin(), constant.rend(), count);
    parallel_for(blocked_range(bits.cbegin(), bits.cend()), [&](const auto& part) {
      for (const bool bit : part) count(bit);
    });
    for_each_dynamic(bits, [&](bool bit, feeder<bool>& /*more*/) { count(bit); });
    EXPECT_EQ(parallel_reduce(bits | std::views::filter(is_set), 0, [](bool /*bit*/) { return 1; }), 334);
    std::vector<char> sums(bits.size());
    parallel_inclusive_scan(bits.begin(), bits.end(), sums.begin(), std::bit_xor<>(), false);
    EXPECT_EQ(sums.back(), 0);
  });
  EXPECT_EQ(set, 5 * 334);
}

TEST_P(loop_items, of_a_list_the_lowest_exception_arrives) {
  std::list<int> numbers(40000);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const int lowest : {0, 1, 8193, 39999}) {
    try {
      pool_.run([&] {
        parallel_for(numbers, [&](int i) {
          if (i >= lowest) throw std::runtime_error(std::to_string(i));
        });
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::to_string(lowest));
    }
  }
}

TEST_P(loop_items, lists_nest_and_stop_and_take_hints) {
  std::list<std::list<int>> rows(40, std::list<int>(40, 1));
  std::atomic<int> sum = 0;
  pool_.run([&] { parallel_for(rows, [&](auto& row) { parallel_for(row, [&](int x) { sum += x; }); }); });
  EXPECT_EQ(sum, 1600);

  std::stop_source stop;
  const auto stop_there = [&](auto& /*row*/) { stop.request_stop(); };
  EXPECT_EQ(pool_.run([&] { return parallel_for(rows, stop_there, {}, stop.get_token()); }), loop_status::stopped);

  std::vector<double> work(rows.size() + 1);
  std::iota(work.begin(), work.end(), 0.0);
  scheduler hinted({.workers = GetParam(), .policy = "adws"});
  std::atomic<int> calls = 0;
  hinted.run([&] { parallel_for(rows, [&](auto& /*row*/) { ++calls; }, weights(work)); });
  EXPECT_EQ(calls, 40);
}

TEST_P(loop_items, sorts_take_containers) {
  std::vector<int> numbers{5, 3, 9, 1};
  pool_.run([&] { parallel_sort(numbers); });
  EXPECT_EQ(numbers, (std::vector<int>{1, 3, 5, 9}));
  pool_.run([&] { parallel_stable_sort(numbers, std::greater<>{}); });
  EXPECT_EQ(numbers, (std::vector<int>{9, 5, 3, 1}));
}

INSTANTIATE_TEST_SUITE_P(unit, loop_items, testing::Values(1, 2, 4));

}  // namespace
}  // namespace filch
