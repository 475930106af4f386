// Loops and reductions under contention: random programs that nest everything, each iteration accounted for by
// identity; exceptions and stops at random places; locks held across nested loops. A failure names the scheduler and
// the seed.
#include "loops.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support.hpp"

namespace filch {
namespace {

using tests::account;
using tests::named_way;
using namespace std::chrono_literals;
using tests::tracked;
using tests::uneven_range;
using tests::work;

class loops : public testing::TestWithParam<tests::configuration> {};
/// Those in which waits are promised to be safe.
class safe_loops : public testing::TestWithParam<tests::configuration> {};

const std::vector<int> worker_counts{2, 3, 8};

/// A program made of a seed: the numbers [0, n) are divided by constructs that nest, until each runs by itself. What is
/// made of an interval depends on the seed and on the interval alone, not on who runs it or when.
class random_program {
 public:
  random_program(std::uint64_t seed, std::size_t n, const std::vector<named_way>& ways)
      : seed_(seed), runs_(n), ways_(ways) {}

  /// From here on, the numbers in a random set throw themselves.
  void let_throw(std::uint64_t one_in) { one_in_ = one_in; }

  void run() { divide(0, runs_.size(), deepest); }

  [[nodiscard]] const account& runs() const { return runs_; }
  [[nodiscard]] bool throws(std::size_t number) const { return one_in_ != 0 && hash(number, 7) % one_in_ == 0; }
  [[nodiscard]] std::size_t first_that_throws() const {
    std::size_t number = 0;
    while (number != runs_.size() && !throws(number)) ++number;
    return number;
  }
  /// Of reductions: those whose sum was wrong.
  [[nodiscard]] int wrong_sums() const { return wrong_sums_; }

 private:
  static constexpr int deepest = 5;

  /// What is decided by lot about an interval.
  struct lot {
    std::uint64_t bits;
    /// One of [0, n).
    std::uint64_t take(std::uint64_t n) {
      const std::uint64_t taken = bits % n;
      bits /= n;
      return taken;
    }
  };
  using construct = void (random_program::*)(std::size_t first, std::size_t last, int depth, lot choice);

  /// Of two numbers and the seed (the finaliser of splitmix64).
  [[nodiscard]] std::uint64_t hash(std::uint64_t a, std::uint64_t b) const {
    std::uint64_t z = seed_ + a * 0x9e3779b97f4a7c15 + b * 0xd1b54a32d192ed03;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  void one(std::size_t number) {
    // Most bodies are tiny. Some are long enough to be worth sharing alone, and some let another thread go first.
    const std::uint64_t size = hash(number, 1) % 256;
    work(size < 2 ? 20'000 : size % 16);
    if (size == 2 || size == 3) std::this_thread::yield();
    runs_.ran(number);
    if (throws(number)) throw tracked(number);
  }
  void all(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i != last; ++i) one(i);
  }

  void divide(std::size_t first, std::size_t last, int depth) {
    if (depth == 0 || last - first < 3) {
      all(first, last);
      return;
    }
    static constexpr std::array<construct, 9> constructs{
        &random_program::numbers, &random_program::steps,  &random_program::pieces,
        &random_program::range,   &random_program::uneven, &random_program::fork,
        &random_program::group,   &random_program::reduce, &random_program::reduce_pieces};
    lot choice{hash(first, last * 8 + static_cast<std::uint64_t>(depth))};
    const construct chosen = constructs[choice.take(constructs.size())];
    (this->*chosen)(first, last, depth - 1, choice);
  }

  [[nodiscard]] splitting way(lot& choice) const {
    constexpr std::array<std::size_t, 4> grains{0, 0, 1, 5};
    const named_way& chosen = ways_[choice.take(ways_.size())];
    return chosen.with_grain(grains[choice.take(grains.size())]);
  }
  /// A number of pieces for an interval, and where each begins.
  static std::size_t piece_count(std::size_t first, std::size_t last, lot& choice) {
    return std::min<std::size_t>(last - first, 2 + choice.take(9));
  }
  static std::size_t piece_begin(std::size_t first, std::size_t last, std::size_t piece, std::size_t count) {
    return first + (last - first) * piece / count;
  }

  void numbers(std::size_t first, std::size_t last, int /*depth*/, lot choice) {
    parallel_for(first, last, [this](std::size_t i) { one(i); }, way(choice));
  }
  /// A loop of strides. So that "lower" means the same to loops and numbers, each iteration runs its whole stride.
  void steps(std::size_t first, std::size_t last, int /*depth*/, lot choice) {
    const std::size_t step = 1 + choice.take(7);
    parallel_for(first, last, step, [=, this](std::size_t i) { all(i, std::min(i + step, last)); }, way(choice));
  }
  void pieces(std::size_t first, std::size_t last, int depth, lot choice) {
    const std::size_t count = piece_count(first, last, choice);
    parallel_for(
        std::size_t{0}, count,
        [=, this](std::size_t k) {
          divide(piece_begin(first, last, k, count), piece_begin(first, last, k + 1, count), depth);
        },
        way(choice));
  }
  void range(std::size_t first, std::size_t last, int /*depth*/, lot choice) {
    const splitting outer = way(choice);
    const splitting inner = way(choice);
    parallel_for(
        blocked_range<std::size_t>(first, last, choice.take(10)),
        [=, this](const blocked_range<std::size_t>& part) {
          parallel_for(part.begin(), part.end(), [this](std::size_t i) { one(i); }, inner);
        },
        outer);
  }
  void uneven(std::size_t first, std::size_t last, int depth, lot choice) {
    parallel_for(
        uneven_range(first, last, 1 + (last - first) / 4),
        [=, this](const uneven_range& part) { divide(part.first(), part.last(), depth); }, way(choice));
  }
  void fork(std::size_t first, std::size_t last, int depth, lot choice) {
    const std::size_t middle = first + 1 + choice.take(last - first - 1);
    fork_join([=, this] { divide(first, middle, depth); }, [=, this] { divide(middle, last, depth); });
  }
  void group(std::size_t first, std::size_t last, int depth, lot choice) {
    const std::size_t count = piece_count(first, last, choice);
    const bool on_heap = choice.take(2) == 0;
    const auto spawn_in = [&](task_group& tasks) {
      for (std::size_t k = 0; k != count; ++k) {
        tasks.run(
            [=, this] { divide(piece_begin(first, last, k, count), piece_begin(first, last, k + 1, count), depth); });
      }
      tasks.wait();
    };
    if (on_heap) {
      spawn_in(*std::make_unique<task_group>());
    } else {
      task_group tasks;
      spawn_in(tasks);
    }
  }
  void reduce(std::size_t first, std::size_t last, int /*depth*/, lot choice) {
    const std::size_t sum = parallel_reduce(
        first, last, std::size_t{0},
        [this](std::size_t i) {
          one(i);
          return i;
        },
        std::plus<>{}, choice.take(6));
    if (sum != (last - first) * (first + last - 1) / 2) ++wrong_sums_;
  }
  void reduce_pieces(std::size_t first, std::size_t last, int depth, lot choice) {
    const std::size_t sum = parallel_reduce(
        blocked_range<std::size_t>(first, last, 1 + choice.take(1 + (last - first) / 2)), std::size_t{0},
        [=, this](const blocked_range<std::size_t>& part, std::size_t before) {
          divide(part.begin(), part.end(), depth);
          return before + part.size();
        },
        std::plus<>{});
    if (sum != last - first) ++wrong_sums_;
  }

  std::uint64_t seed_;
  std::uint64_t one_in_ = 0;
  account runs_;
  const std::vector<named_way>& ways_;
  std::atomic<int> wrong_sums_{0};
};

/// A seed of its own for each configuration and round; the same in every run.
std::uint64_t seed_of(const tests::configuration& c, std::uint64_t round) {
  return std::hash<std::string>{}(c.name()) + round;
}

TEST_P(loops, random_programs_run_every_number_once) {
  scheduler s(GetParam().options());
  tests::wake(s);
  const auto ways = tests::ways_for(GetParam().policy);
  std::uint64_t seed = seed_of(GetParam(), 0);
  tests::until_stolen(s, 60, [&] {
    random_program program(seed, 1000, ways);
    s.run([&] { program.run(); });
    ASSERT_EQ(program.runs().first_not(1), program.runs().size()) << "seed " << seed;
    ASSERT_EQ(program.wrong_sums(), 0) << "seed " << seed;
    ++seed;
  });
}

/// A program some of whose numbers throw: the first of them must arrive, all before it run, none run twice.
void expect_first_exception(scheduler& s, random_program& program) {
  const std::size_t first = program.first_that_throws();
  try {
    s.run([&] { program.run(); });
    ASSERT_EQ(first, program.runs().size()) << "nothing was thrown";
  } catch (const tracked& thrown) {
    ASSERT_EQ(thrown.value(), first);
  }
  tests::expect_ran_up_to(program.runs(), std::min(first, program.runs().size() - 1));
}

TEST_P(loops, random_programs_throw_what_the_first_number_throws) {
  scheduler s(GetParam().options());
  tests::wake(s);
  const auto ways = tests::ways_for(GetParam().policy);
  for (std::uint64_t round = 0; round < 60; ++round) {
    const std::uint64_t seed = seed_of(GetParam(), round);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    random_program program(seed, 1000, ways);
    constexpr std::array<std::uint64_t, 4> one_in{10, 50, 300, 2000};
    program.let_throw(one_in[round % one_in.size()]);
    expect_first_exception(s, program);
    if (HasFatalFailure()) return;
  }
}

TEST_P(loops, random_programs_from_two_threads_at_once) {
  scheduler s(GetParam().options());
  tests::wake(s);
  const auto ways = tests::ways_for(GetParam().policy);
  const auto run_from = [&](std::uint64_t thread) {
    for (std::uint64_t round = 0; round < 20; ++round) {
      const std::uint64_t seed = seed_of(GetParam(), 1000 * (thread + 1) + round);
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      random_program program(seed, 500, ways);
      if (round % 2 == 0) program.let_throw(100);
      expect_first_exception(s, program);
      if (HasFatalFailure()) return;
    }
  };
  std::thread first(run_from, 0);
  std::thread second(run_from, 1);
  first.join();
  second.join();
}

/// Numbers that take some microseconds, many in a row among those that take nothing: chunks that hold them end early.
constexpr int with_clusters = 20'000;
void work_in_clusters(int i) {
  if (i % 5'000 < 4'600) return;
  for (const auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - begin < 3us;) {
  }
}

TEST_P(loops, with_clusters_of_long_iterations_run_every_number_once) {
  scheduler s(GetParam().options());
  account runs(with_clusters);
  const auto loop = [&](bool long_ones, std::size_t grain) {
    s.run([&] {
      parallel_for(
          0, with_clusters,
          [&](int i) {
            runs.ran(static_cast<std::size_t>(i));
            if (long_ones) work_in_clusters(i);
          },
          grain);
    });
  };
  loop(false, 0);  // they are all short, for all that is known
  unsigned times = 1;
  for (const std::size_t grain : {0, 0, 7, 100}) {
    loop(true, grain);
    ++times;
  }
  EXPECT_EQ(runs.first_not(times), runs.size());
}

TEST_P(loops, with_clusters_of_long_iterations_throw_what_the_first_number_throws) {
  scheduler s(GetParam().options());
  for (const int first : {3, 4'700, 4'999, 14'800}) {
    account runs(with_clusters);
    try {
      s.run([&] {
        parallel_for(0, with_clusters, [&](int i) {
          runs.ran(static_cast<std::size_t>(i));
          work_in_clusters(i);
          if (i == first || i == first + 5'000) throw i;
        });
      });
      FAIL() << "nothing was thrown";
    } catch (int thrown) {
      ASSERT_EQ(thrown, first);
    }
    tests::expect_ran_up_to(runs, static_cast<std::size_t>(first));
  }
}

TEST_P(loops, many_short_loops_in_a_row) {
  const std::size_t most = tests::full_product_wanted() ? 400 : 200;
  scheduler s(GetParam().options());
  tests::wake(s);
  for (const named_way& way : tests::ways_for(GetParam().policy)) {
    s.run([&] {
      for (std::size_t n = 0; n < most; ++n) {
        const std::size_t size = n % 20;
        account runs(size);
        parallel_for(std::size_t{0}, size, [&](std::size_t i) { runs.ran(i); }, way.how);
        ASSERT_EQ(runs.first_not(1), size) << way << ", loop " << n;
        ASSERT_EQ(parallel_reduce(std::size_t{0}, size, n, [](std::size_t i) { return i; }),
                  n + (size == 0 ? 0 : size * (size - 1) / 2))
            << "loop " << n;
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(loops, another_thread_stops) {
  scheduler s(GetParam().options());
  tests::wake(s);
  for (const named_way& way : tests::ways_for(GetParam().policy)) {
    SCOPED_TRACE(way.name);
    for (std::size_t round = 0; round < 5; ++round) {
      std::stop_source source;
      std::atomic<bool> begun = false;
      account runs(tests::full_product_wanted() ? 20'000 : 2'000);
      std::thread stopper([&] {
        while (!begun) std::this_thread::yield();
        source.request_stop();
      });
      const loop_status status = s.run([&] {
        return parallel_for(
            std::size_t{0}, runs.size(),
            [&](std::size_t i) {
              runs.ran(i);
              if (i == round * 100) {
                begun = true;
                while (!source.stop_requested()) std::this_thread::yield();
              }
            },
            way.how, source.get_token());
      });
      stopper.join();
      ASSERT_EQ(status, loop_status::stopped);
      for (std::size_t i = 0; i < runs.size(); ++i) ASSERT_LE(runs.runs(i), 1U) << i;
      ASSERT_EQ(runs.runs(round * 100), 1U);
    }
  }
}

TEST_P(loops, reductions_have_the_same_bits) {
  std::mt19937_64 random(1);
  std::vector<double> numbers(3000);
  for (double& number : numbers) number = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 100));
  const auto sum = [&](std::size_t grain) {
    return parallel_reduce(
        std::size_t{0}, numbers.size(), 0.0,
        [&](std::size_t i) {
          if (i % 97 == 0) work(500);
          return numbers[i];
        },
        std::plus<>{}, grain);
  };
  scheduler one({.workers = 1});
  scheduler s(GetParam().options());
  tests::wake(s);
  for (const std::size_t grain : {0, 1, 10, 100}) {
    const double expected = one.run([&] { return sum(grain); });
    for (int round = 0; round < 10; ++round) ASSERT_EQ(s.run([&] { return sum(grain); }), expected) << grain;
  }
}

INSTANTIATE_TEST_SUITE_P(stress, loops, testing::ValuesIn(tests::configurations(worker_counts)), tests::name_of);

TEST_P(safe_loops, a_lock_held_across_a_nested_loop_that_every_other_iteration_wants) {
  scheduler s(GetParam().options());
  tests::wake(s);
  for (const named_way& outer : tests::ways_for(GetParam().policy)) {
    for (const named_way& inner : {named_way{"inherited", {}}, named_way{"simple", loop::simple{}}, outer}) {
      std::mutex mutex;
      account tasks(40);
      account iterations(tasks.size() * 10);
      s.run([&] {
        parallel_for(
            std::size_t{0}, tasks.size(),
            [&](std::size_t i) {
              const std::lock_guard lock(mutex);
              parallel_for(
                  i * 10, (i + 1) * 10,
                  [&](std::size_t k) {
                    work(100);
                    iterations.ran(k);
                  },
                  inner.how);
              tasks.ran(i);
            },
            outer.how);
      });
      ASSERT_EQ(tasks.first_not(1), tasks.size()) << inner << " in " << outer;
      ASSERT_EQ(iterations.first_not(1), iterations.size()) << inner << " in " << outer;
    }
  }
}

TEST_P(safe_loops, a_lock_held_across_a_nested_reduction_that_every_other_part_wants) {
  scheduler s(GetParam().options());
  tests::wake(s);
  for (int round = 0; round < 5; ++round) {
    std::mutex mutex;
    account tasks(60);
    const std::size_t sum = s.run([&] {
      return parallel_reduce(std::size_t{0}, tasks.size(), std::size_t{0}, [&](std::size_t i) {
        const std::lock_guard lock(mutex);
        tasks.ran(i);
        return parallel_reduce(std::size_t{0}, std::size_t{10}, i, [](std::size_t k) {
          work(100);
          return k;
        });
      });
    });
    ASSERT_EQ(sum, 60U * 59 / 2 + 60 * 45);
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  }
}

TEST_P(safe_loops, locks_at_two_depths_and_tasks_between) {
  scheduler s(GetParam().options());
  tests::wake(s);
  for (const named_way& way : tests::ways_for(GetParam().policy)) {
    std::mutex upper;
    std::array<std::mutex, 4> lower;
    account runs(8 * 4 * 4);
    s.run([&] {
      parallel_for(
          std::size_t{0}, std::size_t{8},
          [&](std::size_t i) {
            const std::lock_guard holds_upper(upper);
            task_group group;
            for (std::size_t j = 0; j < 4; ++j) {
              group.run([&, i, j] {
                const std::lock_guard holds_lower(lower[j % 2]);
                parallel_for(
                    std::size_t{0}, std::size_t{4}, [&, i, j](std::size_t k) { runs.ran((i * 4 + j) * 4 + k); },
                    way.how);
              });
            }
            group.wait();
          },
          way.how);
    });
    ASSERT_EQ(runs.first_not(1), runs.size()) << way;
  }
}

TEST_P(safe_loops, run_descendants_only_while_they_wait) {
  // Each iteration notes on its thread what it is part of. Whatever runs there while it waits must be part of that.
  struct part {
    const part* whole;
  };
  static thread_local const part* waiting_for = nullptr;
  std::atomic<long> strangers = 0;
  const std::function<void(const part*, int, splitting)> grow = [&](const part* me, int depth, splitting how) {
    bool inside = waiting_for == nullptr;
    for (const part* p = me; p != nullptr && !inside; p = p->whole) inside = p == waiting_for;
    if (!inside) ++strangers;
    if (depth == 0) return;
    const part* const before = waiting_for;
    waiting_for = me;  // from here to the end of the loop this thread runs parts of `me`
    parallel_for(
        0, 4,
        [&, me](int) {
          const part mine{me};
          grow(&mine, depth - 1, how);
        },
        how);
    waiting_for = before;
  };
  scheduler s(GetParam().options());
  tests::wake(s);
  for (const named_way& way : tests::ways_for(GetParam().policy)) {
    const part root{nullptr};
    s.run([&] { grow(&root, 4, way.how); });
    ASSERT_EQ(strangers, 0) << way;
  }
}

TEST_P(safe_loops, need_no_more_stack_the_longer_they_are) {
  // From the first iteration that a thread runs to the one that lies deepest on its stack. A worker that helps while it
  // waits may be a few calls deeper, as many as there are halvings; not as many as there are iterations.
  constexpr std::uintptr_t enough = std::uintptr_t{128} << 10;
  const int n = tests::full_product_wanted() ? 50'000 : 8'000;
  const int rounds = tests::full_product_wanted() ? 3 : 2;
  static thread_local std::uintptr_t first = 0;
  std::atomic<std::uintptr_t> deepest = 0;
  const auto measure = [&] {
    const auto here = std::bit_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (first == 0 || here > first) first = here;
    std::uintptr_t before = deepest;
    while (before < first - here && !deepest.compare_exchange_weak(before, first - here)) {
    }
  };
  scheduler s(GetParam().options());
  tests::wake(s);
  for (const named_way& way : tests::ways_for(GetParam().policy)) {
    for (int round = 0; round < rounds; ++round) {
      s.run([&] { parallel_for(0, n, [&](int) { measure(); }, way.how); });
    }
    ASSERT_LT(deepest, enough) << way;
  }
}

INSTANTIATE_TEST_SUITE_P(stress, safe_loops, testing::ValuesIn(tests::safe_configurations(worker_counts)),
                         tests::name_of);

}  // namespace
}  // namespace filch
