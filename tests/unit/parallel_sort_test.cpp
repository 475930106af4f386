// Both sorts: against those of the standard library, on inputs that sorts get wrong, with comparisons that throw or are
// no order, and with the same result everywhere.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/parallel_sort.hpp>

#include "everywhere.hpp"

namespace filch {
namespace {

/// Around the sizes at which the sorts do something else: insertion sort up to 24 and 32, forks from 1024.
std::vector<std::size_t> sizes() {
  return {0, 1, 2, 3, 23, 24, 25, 26, 31, 32, 33, 65, 127, 128, 129, 257, 1000, 1023, 1024, 1025, 4097};
}
/// Large enough for everything: merges are cut from 32,768 elements on, and partitions shared from 65,536.
constexpr std::size_t large = 66'001;

struct shape {
  const char* name;
  std::function<long(std::size_t i, std::size_t n)> at;
};

std::vector<shape> shapes() {
  static std::mt19937_64 random(7);
  const auto number = [](std::size_t i) { return static_cast<long>(i); };
  return {{"random", [](auto /*i*/, auto /*n*/) { return static_cast<long>(random() >> 8); }},
          {"sorted", [=](auto i, auto /*n*/) { return number(i); }},
          {"reversed", [=](auto i, auto n) { return number(n - i); }},
          {"equal", [](auto /*i*/, auto /*n*/) { return 3L; }},
          {"two values", [](auto /*i*/, auto /*n*/) { return static_cast<long>(random() % 2); }},
          {"few values", [](auto /*i*/, auto /*n*/) { return static_cast<long>(random() % 11); }},
          {"organ pipe", [=](auto i, auto n) { return number(std::min(i, n - i)); }},
          {"saw", [=](auto i, auto /*n*/) { return number(i % 64); }},
          {"runs", [=](auto i, auto /*n*/) { return number(i % 1000 * 7919 + i / 1000); }},
          {"sorted but for the end", [=](auto i, auto n) { return i + 3 < n ? number(i) : number(i % 7); }},
          {"sorted but for some",
           [=](auto i, auto /*n*/) { return i % 97 == 0 ? static_cast<long>(random() % 1000) : number(i); }}};
}

std::vector<long> make(const shape& s, std::size_t n) {
  std::vector<long> values(n);
  for (std::size_t i = 0; i != n; ++i) values[i] = s.at(i, n);
  return values;
}
std::vector<long> random_numbers(std::size_t n) { return make(shapes().front(), n); }

class sorts : public testing::TestWithParam<bool> {
 protected:
  static bool stable() { return GetParam(); }
  template <class Iterator, class... Compare>
  static void sort(Iterator first, Iterator last, const Compare&... less) {
    if (stable()) {
      parallel_stable_sort(first, last, less...);
    } else {
      parallel_sort(first, last, less...);
    }
  }
};

TEST_P(sorts, numbers_as_the_standard_library) {
  auto all_sizes = sizes();
  all_sizes.push_back(large);
  for (const auto& s : shapes()) {
    for (const std::size_t n : all_sizes) {
      auto values = make(s, n);
      auto expected = values;
      std::sort(expected.begin(), expected.end());
      sort(values.begin(), values.end());
      EXPECT_EQ(values, expected) << s.name << ' ' << n;
    }
  }
}

TEST_P(sorts, every_size_up_to_300_in_descending_order_in_a_deque) {
  for (std::size_t n = 0; n != 300; ++n) {
    const auto values = random_numbers(n);
    std::deque<long> queue(values.begin(), values.end());
    auto expected = queue;
    std::sort(expected.begin(), expected.end(), std::greater<>());
    sort(queue.begin(), queue.end(), std::greater<>());
    EXPECT_EQ(queue, expected);
  }
}

TEST_P(sorts, strings_and_move_only_objects) {
  for (const std::size_t n : {10U, 1000U, 5000U}) {
    const auto values = random_numbers(n);
    std::vector<std::string> strings;
    std::vector<std::unique_ptr<long>> owners;
    for (const long value : values) {
      strings.push_back("a rather long key, not kept in place " + std::to_string(value % 5000));
      owners.push_back(std::make_unique<long>(value));
    }
    auto expected = strings;
    std::sort(expected.begin(), expected.end());
    sort(strings.begin(), strings.end());
    EXPECT_EQ(strings, expected);

    const auto less = [](const auto& a, const auto& b) { return *a < *b; };
    sort(owners.begin(), owners.end(), less);
    EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end(), less));
  }
}

struct person {
  std::string name;
  int age = 0;
  [[nodiscard]] bool is_younger(const person& than) const { return age < than.age; }
  [[nodiscard]] std::size_t length() const { return name.size(); }
};

/// As those of std::ranges take them.
TEST(sort_keys, members_of_elements) {
  std::vector<person> people;
  for (const long number : random_numbers(3000)) {
    people.push_back({"name " + std::to_string(number % 1000), static_cast<int>(number % 77)});
  }
  const auto same = [&](const auto& sort, const auto& expected_sort) {
    auto sorted = people;
    auto expected = people;
    sort(sorted);
    expected_sort(expected);
    return std::ranges::equal(sorted, expected,
                              [](const person& a, const person& b) { return a.name == b.name && a.age == b.age; });
  };
  EXPECT_TRUE(same([](auto& all) { parallel_stable_sort(all, {}, &person::name); },
                   [](auto& all) { std::ranges::stable_sort(all, {}, &person::name); }));
  EXPECT_TRUE(same([](auto& all) { parallel_stable_sort(all.begin(), all.end(), std::greater<>(), &person::age); },
                   [](auto& all) { std::ranges::stable_sort(all, std::greater<>(), &person::age); }));
  EXPECT_TRUE(same([](auto& all) { parallel_stable_sort(all, {}, &person::length); },
                   [](auto& all) { std::ranges::stable_sort(all, {}, &person::length); }));
  EXPECT_TRUE(same([](auto& all) { parallel_stable_sort(all, &person::is_younger); },
                   [](auto& all) { std::ranges::stable_sort(all, &person::is_younger); }));
  parallel_sort(people, {}, [](const person& p) { return -p.age; });
  EXPECT_TRUE(std::ranges::is_sorted(people, std::greater<>(), &person::age));
  parallel_sort(people.begin(), people.end(), &person::is_younger);
  EXPECT_TRUE(std::ranges::is_sorted(people, {}, &person::age));
}

/// Equal keys, different payloads; of several sizes and costs.
struct small_record {
  std::uint32_t key;
  std::uint32_t place;
};
struct large_record {
  std::uint64_t key;
  std::uint64_t place;
  std::uint64_t more[4];
};
struct owning_record {
  std::uint64_t key;
  std::unique_ptr<std::uint64_t> owned;
  std::uint64_t place;
};
template <class Record>
Record make_record(std::uint32_t key, std::uint32_t place) {
  if constexpr (std::is_same_v<Record, owning_record>) {
    return {key, std::make_unique<std::uint64_t>(place), place};
  } else if constexpr (std::is_same_v<Record, large_record>) {
    return {key, place, {}};
  } else {
    return {key, place};
  }
}
constexpr auto less_key = [](const auto& a, const auto& b) { return a.key < b.key; };

template <class Record>
std::vector<Record> make_records(std::size_t n, std::size_t keys) {
  std::vector<Record> records;
  for (const long value : random_numbers(n)) {
    records.push_back(make_record<Record>(static_cast<std::uint32_t>(static_cast<std::size_t>(value) % keys),
                                          static_cast<std::uint32_t>(records.size())));
  }
  return records;
}

template <class Record, class Sort>
void expect_same_order_everywhere(std::size_t largest, const Sort& sort) {
  for (const std::size_t n : {largest, std::size_t{2000}, std::size_t{100}}) {
    const auto order = [n, &sort] {
      std::vector<Record> records;
      std::mt19937 random(5);
      for (std::uint32_t i = 0; i != n; ++i)
        records.push_back(make_record<Record>(static_cast<std::uint32_t>(random() % 300), i));
      sort(records.begin(), records.end(), less_key);
      std::vector<std::uint64_t> places;
      for (const auto& record : records) places.push_back(record.place);
      return places;
    };
    tests::same_everywhere(order, [](const auto& a, const auto& b) { EXPECT_TRUE(a == b); });
  }
}

TEST_P(sorts, bring_small_equal_elements_into_the_same_order_everywhere) {
  expect_same_order_everywhere<small_record>(large, [](auto... all) { sort(all...); });
}
TEST_P(sorts, bring_large_equal_elements_into_the_same_order_everywhere) {
  expect_same_order_everywhere<large_record>(5000, [](auto... all) { sort(all...); });
}
TEST_P(sorts, bring_move_only_equal_elements_into_the_same_order_everywhere) {
  expect_same_order_everywhere<owning_record>(large, [](auto... all) { sort(all...); });
}

TEST_P(sorts, bring_both_zeros_into_the_same_order_everywhere) {
  const auto bits = [] {
    std::vector<double> values(large);
    for (std::size_t i = 0; i != values.size(); ++i) values[i] = i % 3 == 0 ? -0.0 : static_cast<double>(i % 2);
    sort(values.begin(), values.end());
    std::vector<std::uint64_t> all;
    for (const double x : values) all.push_back(std::bit_cast<std::uint64_t>(x));
    return all;
  };
  tests::same_everywhere(bits, [](const auto& a, const auto& b) { EXPECT_TRUE(a == b); });
}

std::vector<std::uint64_t> sorted_bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> bits;
  for (const double x : values) bits.push_back(std::bit_cast<std::uint64_t>(x));
  std::sort(bits.begin(), bits.end());
  return bits;
}

TEST_P(sorts, lose_nothing_where_the_comparison_is_no_order) {
  for (const std::size_t n : {std::size_t{20}, std::size_t{100}, std::size_t{5000}, large}) {
    std::vector<double> values(n);
    const auto numbers = random_numbers(n);
    for (std::size_t i = 0; i != n; ++i) {
      values[i] = numbers[i] % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(numbers[i]);
    }
    const auto before = sorted_bits(values);
    sort(values.begin(), values.end());
    EXPECT_TRUE(sorted_bits(values) == before);
    sort(values.begin(), values.end(), [](double /*a*/, double /*b*/) { return true; });
    EXPECT_TRUE(sorted_bits(values) == before);
  }
}

TEST_P(sorts, compare_elements_only) {
  // Elements beside the range and moved-from ones have other values.
  for (const std::size_t n : {1U, 30U, 200U, 40'000U}) {
    std::vector<tests::counted> values(n + 2, tests::counted(-1));
    const auto numbers = random_numbers(n);
    for (std::size_t i = 0; i != n; ++i) values[i + 1].value = numbers[i] % 777;
    std::atomic<long> strangers = 0;
    sort(values.begin() + 1, values.end() - 1, [&](const auto& a, const auto& b) {
      if (std::min(a.value, b.value) < 0) ++strangers;
      return a.value < b.value;
    });
    EXPECT_EQ(strangers, 0);
    EXPECT_TRUE(std::is_sorted(values.begin() + 1, values.end() - 1));
    EXPECT_EQ(values.front().value, -1);
    EXPECT_EQ(values.back().value, -1);
  }
}

/// Sorts with a comparison that throws when it is called for the `calls`-th time. All elements must still be there.
/// @return whether it was called so often.
template <class Make, class Sort>
bool throws_at(long calls, std::size_t n, const Make& make, const Sort& sort) {
  std::vector<decltype(make(0L))> values;
  for (std::size_t i = 0; i != n; ++i) values.push_back(make(static_cast<long>(i * 7919 % n)));
  std::atomic<long> left = calls;
  bool thrown = false;
  try {
    sort(values.begin(), values.end(), [&](const auto& a, const auto& b) {
      if (--left <= 0) throw calls;
      return a.value < b.value;
    });
  } catch (long which) {
    EXPECT_EQ(which, calls);
    thrown = true;
  }
  std::vector<long> rest;
  for (const auto& value : values) rest.push_back(value.value);
  std::sort(rest.begin(), rest.end());
  for (std::size_t i = 0; i != n; ++i) EXPECT_EQ(rest[i], static_cast<long>(i));
  return thrown;
}

struct trivial {
  long value;
};

TEST_P(sorts, keep_all_elements_whichever_comparison_throws) {
  const auto make_counted = [](long i) { return tests::counted(i); };
  const auto make_trivial = [](long i) { return trivial{i}; };
  const auto do_sort = [](auto... all) { sort(all...); };
  for (const std::size_t n : {10U, 100U}) {
    for (long calls = 1; throws_at(calls, n, make_counted, do_sort); ++calls) ASSERT_EQ(tests::counted::alive, 0);
    for (long calls = 1; throws_at(calls, n, make_trivial, do_sort); ++calls) {
    }
  }
  // And where the work is shared.
  for (const auto& pool : tests::all_schedulers()) {
    pool->run([&] {
      for (const long calls : {70, 3'000, 20'000, 40'000}) {
        EXPECT_TRUE(throws_at(calls, 4003, make_counted, do_sort));
        EXPECT_TRUE(throws_at(calls, 4003, make_trivial, do_sort));
      }
    });
    ASSERT_EQ(tests::counted::alive, 0);
  }
}

TEST_P(sorts, keep_all_elements_when_a_shared_partition_or_merge_throws) {
  const auto do_sort = [](auto... all) { sort(all...); };
  for (const long calls : {50'000L, 300'000L, 600'000L}) {
    EXPECT_TRUE(throws_at(calls, 66'003, [](long i) { return tests::counted(i); }, do_sort));
  }
  EXPECT_EQ(tests::counted::alive, 0);
}

/// From a certain move on, all of its moves throw; so does the one that puts it back.
struct stuck {
  static inline std::atomic<long> moves_left{std::numeric_limits<long>::max()};
  static void move() {
    if (--moves_left < 0) throw std::runtime_error("stuck");
  }
  explicit stuck(long number) : value(number) {}
  stuck(stuck&& other) : value(other.value) { move(); }  // NOLINT(performance-noexcept-move-constructor)
  stuck& operator=(stuck&& other) {                      // NOLINT(performance-noexcept-move-constructor)
    move();
    value = other.value;
    return *this;
  }
  friend auto operator<=>(const stuck&, const stuck&) = default;
  long value;
};

TEST_P(sorts, throw_what_a_move_throws) {
  for (const std::size_t n : {2U, 10U, 100U}) {
    std::vector<stuck> values;
    values.reserve(n);
    bool thrown = true;
    for (long moves = 0; thrown; ++moves) {
      values.clear();
      for (std::size_t i = 0; i != n; ++i) values.emplace_back(static_cast<long>(i * 7 % n * (i % 3 == 0 ? 1 : 2)));
      if (n == 2) std::swap(values[0].value, values[1].value);
      stuck::moves_left = moves;
      try {
        sort(values.begin(), values.end());
        thrown = false;
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "stuck");
      }
      stuck::moves_left = std::numeric_limits<long>::max();
    }
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  }
}

/// Sorts while another exception unwinds the stack.
struct sorts_at_its_end {
  ~sorts_at_its_end() {
    stuck::moves_left = 5;
    EXPECT_THROW(parallel_sort(values->begin(), values->end()), std::runtime_error);
    stuck::moves_left = std::numeric_limits<long>::max();
  }
  std::vector<stuck>* values;
};

TEST_P(sorts, throw_what_a_move_throws_beside_another_exception) {
  std::vector<stuck> values;
  values.reserve(10);
  for (long i = 0; i != 10; ++i) values.emplace_back(i * 7 % 10);
  try {
    const sorts_at_its_end end{&values};
    throw 1;
  } catch (int) {
    EXPECT_EQ(values.size(), 10U);
  }
}

TEST(parallel_stable_sort, throws_the_same_everywhere) {
  // In order until shortly before the first comparison that throws; the second one is on another worker's side.
  constexpr long n = 40'000;
  std::vector<long> values(n);
  std::iota(values.begin(), values.end(), 0L);
  std::swap(values[18'900], values[18'901]);
  const auto thrown = [&]() -> long {
    auto sorted = values;
    try {
      parallel_stable_sort(sorted, [](long a, long b) {
        for (const long bad : {19'000L, 21'000L}) {
          if (std::min(a, b) == bad) throw bad;
        }
        return a < b;
      });
    } catch (long which) {
      return which;
    }
    return 0;
  };
  for (int round = 0; round < 50; ++round) {
    tests::same_everywhere(thrown, [](long which, long first) { EXPECT_EQ(which, first); });
  }
  EXPECT_EQ(thrown(), 19'000);
}

/// McIlroy's adversary (1999): decides the values while it is asked, so that every pivot is bad.
class adversary {
 public:
  /// The first three elements are neither in ascending nor in descending order: that would be looked for.
  explicit adversary(std::size_t n) : values_(n, undecided) {
    decide(1);
    decide(0);
  }

  bool less(std::size_t a, std::size_t b) {
    ++comparisons_;
    if (values_[a] == undecided && values_[b] == undecided) decide(a == candidate_ ? a : b);
    if (values_[a] == undecided) {
      candidate_ = a;
    } else if (values_[b] == undecided) {
      candidate_ = b;
    }
    return values_[a] < values_[b];
  }
  [[nodiscard]] std::size_t comparisons() const { return comparisons_; }

 private:
  static constexpr std::size_t undecided = std::numeric_limits<std::size_t>::max();
  void decide(std::size_t i) { values_[i] = decided_++; }

  std::vector<std::size_t> values_;
  std::size_t decided_ = 0;
  std::size_t candidate_ = 0;
  std::size_t comparisons_ = 0;
};

TEST_P(sorts, need_few_comparisons_even_against_an_adversary) {
  constexpr std::size_t n = 20'000;
  scheduler one({.workers = 1});  // the adversary is no friend of threads
  adversary enemy(n);
  std::vector<std::size_t> places(n);
  std::iota(places.begin(), places.end(), std::size_t{0});
  one.run([&] { sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return enemy.less(a, b); }); });
  const auto log = static_cast<std::size_t>(std::bit_width(n));
  EXPECT_LT(enemy.comparisons(), 8 * n * log);
  EXPECT_TRUE(
      std::is_sorted(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return enemy.less(a, b); }));
}

/// Orders that strangers try first.
std::vector<shape> patterns() {
  static std::mt19937_64 random(11);
  const auto number = [](std::size_t i) { return static_cast<long>(i); };
  const auto any = [](std::size_t n) { return static_cast<long>(random() % n); };
  return {{"reversed with equals", [=](auto i, auto n) { return number((n - i) / 3); }},
          {"reversed few values", [=](auto i, auto n) { return number(9 * (n - i) / n); }},
          {"sawtooth", [=](auto i, auto n) { return number(i % (n / 16 + 1)); }},
          {"sawtooth down", [=](auto i, auto n) { return number(n - i % (n / 16 + 1)); }},
          {"some out of place", [=](auto i, auto n) { return random() % 100 == 0 ? any(n) : number(i); }},
          {"random tail", [=](auto i, auto n) { return i < n - n / 50 ? number(i) : any(n); }},
          {"random head", [=](auto i, auto n) { return i < n / 50 ? any(n) : number(i); }},
          {"interleaved", [=](auto i, auto n) { return number(i % 2 == 0 ? i : n + i); }},
          {"rotated", [=](auto i, auto n) { return number((i + n / 3) % n); }},
          {"sorted blocks", [=](auto i, auto n) { return number(i % 100 * n + i * 7919 % 100); }},
          {"valley", [=](auto i, auto n) { return number(i < n / 2 ? n - 2 * i : 2 * i - n); }},
          {"last is least", [=](auto i, auto n) { return i + 1 == n ? -1 : number(i); }}};
}

TEST_P(sorts, patterns_of_each_type_with_each_comparison) {
  const auto check = [](const shape& s, std::size_t n, auto make_one, auto less) {
    std::vector<decltype(make_one(0L, 0U))> values;
    for (std::size_t i = 0; i != n; ++i) values.push_back(make_one(s.at(i, n), static_cast<std::uint32_t>(i)));
    auto expected = values;
    std::stable_sort(expected.begin(), expected.end(), less);
    sort(values.begin(), values.end(), less);
    for (std::size_t i = 0; i != n; ++i) {
      ASSERT_FALSE(less(values[i], expected[i]) || less(expected[i], values[i])) << s.name << ' ' << n << ' ' << i;
    }
    if constexpr (requires { values[0].place; }) {
      const auto same = [](const auto& a, const auto& b) { return a.place == b.place; };
      if (stable()) {
        ASSERT_TRUE(std::equal(values.begin(), values.end(), expected.begin(), same)) << s.name << ' ' << n;
      }
    }
  };
  const auto both = [&](const shape& s, std::size_t n, auto make_one, auto key) {
    // One type for both directions: each is a sort of its own to be compiled.
    for (const bool down : {false, true}) {
      check(s, n, make_one, [=](const auto& a, const auto& b) { return down ? key(a) > key(b) : key(a) < key(b); });
    }
  };
  const auto itself = [](const auto& a) -> const auto& { return a; };
  const auto key_of = [](const auto& a) { return a.key; };
  for (const auto& s : patterns()) {
    for (const std::size_t n : {10U, 100U, 1000U, 40'000U}) {
      both(s, n, [](long key, std::uint32_t /*i*/) { return static_cast<int>(key); }, itself);
      both(s, n, [](long key, std::uint32_t /*i*/) { return static_cast<double>(key) / 8; }, itself);
      both(
          s, n,
          [](long key, std::uint32_t i) { return make_record<small_record>(static_cast<std::uint32_t>(key + 1), i); },
          key_of);
      if (n > 1000) continue;
      both(
          s, n,
          [](long key, std::uint32_t i) { return make_record<large_record>(static_cast<std::uint32_t>(key + 1), i); },
          key_of);
      both(
          s, n, [](long key, std::uint32_t /*i*/) { return std::to_string(key) + " and more than fits in place"; },
          itself);
    }
  }
  // Partitions by all workers.
  for (const auto& s : patterns()) both(s, large, [](long key, std::uint32_t /*i*/) { return key; }, itself);
}

/// How often each element is compared, at most.
template <class At, class Sort>
double comparisons_per_element(std::size_t n, const At& at, const Sort& sort) {
  std::vector<long> values(n);
  for (std::size_t i = 0; i != n; ++i) values[i] = at(static_cast<long>(i));
  std::atomic<long> calls = 0;
  sort(values.begin(), values.end(), [&](long a, long b) { return ++calls, a < b; });
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  return static_cast<double>(calls) / static_cast<double>(n);
}

TEST_P(sorts, compare_elements_in_order_a_few_times_only) {
  const auto do_sort = [](auto... all) { sort(all...); };
  for (const long n : {30L, 1000L, 66'001L, 300'000L}) {
    const auto count = [&](auto at) { return comparisons_per_element(static_cast<std::size_t>(n), at, do_sort); };
    EXPECT_LE(count([](long i) { return i; }), 1);
    EXPECT_LE(count([](long /*i*/) { return 1L; }), 1);
    EXPECT_LE(count([n](long i) { return n - i; }), stable() ? 2.1 : 1.1);
    EXPECT_LE(count([n](long i) { return (n - i) / 3; }), stable() ? 2.1 : 1.1);
    EXPECT_LE(count([n](long i) { return 5 * (n - i) / n; }), stable() ? 3 : 2);
  }
  // Two runs, and a run with a stranger: less than half of what n log n comparisons would be.
  constexpr long many = 300'000;
  const auto count = [&](auto at) { return comparisons_per_element(many, at, do_sort); };
  EXPECT_LE(count([](long i) { return i == many / 3 ? 7L : i; }), 10);
  if (stable()) {
    EXPECT_LE(count([](long i) { return std::min(i, many - i); }), 10);
    EXPECT_LE(count([](long i) { return (i + many / 3) % many; }), 5);
  }
}

INSTANTIATE_TEST_SUITE_P(, sorts, testing::Bool(),
                         [](const auto& kind) { return std::string(kind.param ? "stable" : "unstable"); });

template <class Record>
void expect_stable(const std::vector<std::size_t>& sizes) {
  for (const std::size_t n : sizes) {
    for (const std::size_t keys : {1U, 5U, 1000U}) {
      auto records = make_records<Record>(n, keys);
      parallel_stable_sort(records.begin(), records.end(), less_key);
      const auto before = [](const Record& a, const Record& b) {
        return a.key != b.key ? a.key < b.key : a.place < b.place;
      };
      EXPECT_TRUE(std::is_sorted(records.begin(), records.end(), before)) << n << ' ' << keys;
    }
  }
}

TEST(parallel_stable_sort, keeps_equal_elements_in_order) {
  expect_stable<small_record>(sizes());
  expect_stable<small_record>({large});
  expect_stable<large_record>({30, 1500});
  expect_stable<owning_record>({30, 1500});
}

TEST(parallel_stable_sort, descending_keys_with_equal_ones_stay_in_order) {
  std::vector<small_record> records(1000);
  for (std::uint32_t i = 0; i != records.size(); ++i) records[i] = {(1000 - i) / 2, i};
  parallel_stable_sort(records.begin(), records.end(), less_key);
  for (std::size_t i = 1; i != records.size(); ++i) {
    ASSERT_TRUE(less_key(records[i - 1], records[i]) || records[i - 1].place < records[i].place);
  }
}

/// Copied instead of moved, and copies may throw.
struct copied {
  static inline std::atomic<long> copies_left{std::numeric_limits<long>::max()};
  static inline std::atomic<long> alive{0};
  explicit copied(long key_, long place_) : key(key_), place(place_) { ++alive; }
  copied(const copied& other) : key(other.key), place(other.place) {
    if (--copies_left < 0) throw place;
    ++alive;
  }
  copied& operator=(const copied& other) {
    if (--copies_left < 0) throw place;
    key = other.key;
    place = other.place;
    return *this;
  }
  ~copied() { --alive; }
  long key;
  long place;
};

TEST(parallel_stable_sort, of_elements_whose_moves_throw) {
  std::vector<copied> records;
  records.reserve(3000);
  const auto numbers = random_numbers(3000);
  for (const long number : numbers) records.emplace_back(number % 50, static_cast<long>(records.size()));
  for (const long copies : {0L, 1L, 100L, 5000L}) {
    copied::copies_left = copies;
    EXPECT_THROW(parallel_stable_sort(records.begin(), records.end(), less_key), long);
    copied::copies_left = std::numeric_limits<long>::max();
    EXPECT_EQ(copied::alive, 3000);
    long place = 0;
    for (auto& record : records) record = copied(numbers[static_cast<std::size_t>(place)] % 50, place), ++place;
  }
  parallel_stable_sort(records.begin(), records.end(), less_key);
  for (std::size_t i = 1; i != records.size(); ++i) {
    ASSERT_TRUE(less_key(records[i - 1], records[i]) ||
                (records[i - 1].key == records[i].key && records[i - 1].place < records[i].place));
  }
}

TEST(heap_sort, sorts_whatever_it_gets) {
  for (const auto& s : shapes()) {
    for (const std::size_t n : {0U, 1U, 2U, 3U, 4U, 5U, 100U, 1001U}) {
      auto values = make(s, n);
      auto expected = values;
      std::sort(expected.begin(), expected.end());
      detail::heap_sort(values.begin(), values.end(), std::less<>())();
      EXPECT_EQ(values, expected) << s.name << ' ' << n;
    }
  }
}

/// The partition of large ranges alone: what is wanted comes first, whatever share of the elements it is.
TEST(shared_partition, divides_every_share) {
  for (const std::size_t n : {0U, 1U, 8191U, 8193U, 50'003U}) {
    for (const long share : {0L, 1L, 100L, 500L, 900L, 999L, 1000L}) {
      auto values = random_numbers(n);
      for (long& value : values) value %= 1000;
      // Wanted ones lie mostly at one end, so that the blocks differ.
      std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n / 3), std::greater<>());
      auto expected = values;
      const auto wanted = [share](long value) { return value < share; };
      const auto middle = detail::shared_partition(values.begin(), values.end(), wanted)();
      EXPECT_EQ(middle - values.begin(), std::count_if(expected.begin(), expected.end(), wanted));
      EXPECT_TRUE(std::all_of(values.begin(), middle, wanted));
      EXPECT_TRUE(std::none_of(middle, values.end(), wanted));
      std::sort(values.begin(), values.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(values, expected);
    }
  }
}

}  // namespace
}  // namespace filch
