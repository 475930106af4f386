// What loops, bags, reductions and scans may call: also pointers to members, and bodies that take a part as a variable of
// their own, as those of oneTBB may.
#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <stop_token>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

/// A range of the program's own, whose functions are bodies.
class interval {
 public:
  interval(std::size_t first, std::size_t end, std::vector<int>* runs = nullptr)
      : first_(first), end_(end), runs_(runs) {}
  interval(interval& from, split /*second half*/)
      : first_((from.first_ + from.end_) / 2), end_(from.end_), runs_(from.runs_) {
    from.end_ = first_;
  }
  [[nodiscard]] bool empty() const { return first_ >= end_; }
  [[nodiscard]] bool is_divisible() const { return end_ - first_ > 1; }
  void run() const {
    for (std::size_t i = first_; i != end_; ++i) ++(*runs_)[i];
  }
  /// Leaves nothing.
  void run_out() {
    for (; first_ != end_; ++first_) ++(*runs_)[first_];
  }

  struct sum {
    std::size_t of = 0;
    sum operator+(const sum& other) const { return {of + other.of}; }
    bool operator==(const sum&) const = default;
  };
  [[nodiscard]] sum add_to(const sum& before) const {
    sum all = before;
    for (std::size_t i = first_; i != end_; ++i) all.of += i;
    return all;
  }
  [[nodiscard]] sum scan(const sum& before, bool is_final) {
    const sum all = add_to(before);
    if (is_final && runs_ != nullptr) run_out();
    return all;
  }

 private:
  std::size_t first_;
  std::size_t end_;
  std::vector<int>* runs_;
};
using sum = interval::sum;

constexpr std::size_t n = 10'000;
constexpr sum all{n * (n - 1) / 2};

std::vector<sum> numbers() {
  std::vector<sum> made(n);
  for (std::size_t i = 0; i != n; ++i) made[i].of = i;
  return made;
}

class callables : public testing::Test {
 protected:
  template <class F>
  auto run(const F& f) {
    return pool_.run(f);
  }
  /// Whether the loop runs every iteration once.
  template <class Loop>
  bool once(const Loop& loop) {
    std::vector<int> runs(n);
    run([&] { loop(runs); });
    return runs == std::vector<int>(n, 1);
  }

 private:
  scheduler pool_{{.workers = 3}};
};

TEST_F(callables, loops_over_ranges_call_their_members) {
  EXPECT_TRUE(once([](auto& runs) { parallel_for(interval(0, n, &runs), &interval::run); }));
  using part = blocked_range<std::size_t>;
  std::atomic<std::size_t> size = 0;
  run([&] { parallel_for(part(0, n), [&](const part& p) { size += std::invoke(&part::size, p); }); });
  EXPECT_EQ(size, n);
  run([&] { parallel_for(part(0, n), &part::size); });
}

TEST_F(callables, loops_over_ranges_take_bodies_that_change_a_part) {
  EXPECT_TRUE(once([](auto& runs) { parallel_for(interval(0, n, &runs), &interval::run_out); }));
  using part = blocked_range<std::size_t>;
  EXPECT_TRUE(once([](auto& runs) {
    parallel_for(part(0, n), [&runs](part& p) {
      for (; !p.empty(); p = part(p.begin() + 1, p.end())) ++runs[p.begin()];
    });
  }));
  EXPECT_TRUE(once([](auto& runs) {
    parallel_for(blocked_range2d<std::size_t>(0, 10, 0, n / 10), [&runs](blocked_range2d<std::size_t>& p) {
      for (std::size_t row = p.rows().begin(); row < p.rows().end(); ++row) {
        for (std::size_t i = p.cols().begin(); i < p.cols().end(); ++i) ++runs[row * (n / 10) + i];
      }
    });
  }));
  const std::size_t total = run([] {
    return parallel_reduce(
        part(0, n), std::size_t{0},
        [](part& p, std::size_t before) {
          for (; !p.empty(); p = part(p.begin() + 1, p.end())) before += p.begin();
          return before;
        },
        std::plus<>());
  });
  EXPECT_EQ(total, all.of);
}

TEST_F(callables, reductions_call_members_of_parts_and_of_values) {
  EXPECT_EQ(run([] { return parallel_reduce(interval(0, n), sum{}, &interval::add_to, &sum::operator+); }), all);
  const std::vector<sum> items = numbers();
  EXPECT_EQ(run([&] { return parallel_reduce(items, std::size_t{0}, &sum::of); }), all.of);
  const auto both = [&] {
    return parallel_transform_reduce(items.begin(), items.end(), items.begin(), sum{}, &sum::operator+,
                                     &sum::operator+);
  };
  EXPECT_EQ(run(both), all + all);
}

TEST_F(callables, scans_call_members_of_values) {
  const std::vector<sum> items = numbers();
  std::vector<sum> expected(n);
  std::partial_sum(items.begin(), items.end(), expected.begin());
  std::vector<sum> out(n);
  run([&] { parallel_inclusive_scan(items, out.begin(), &sum::operator+); });
  EXPECT_EQ(out, expected);
  run([&] { parallel_inclusive_scan(items.begin(), items.end(), out.begin(), &sum::operator+, sum{1}); });
  EXPECT_EQ(out.back(), all + sum{1});
  run([&] { parallel_exclusive_scan(items.begin(), items.end(), out.begin(), sum{}, &sum::operator+); });
  EXPECT_EQ(out.back(), expected[n - 2]);
  EXPECT_TRUE(once([](auto& runs) {
    EXPECT_EQ(parallel_scan(interval(0, n, &runs), sum{}, &interval::scan, &sum::operator+), all);
  }));
}

TEST_F(callables, bags_call_members_of_items) {
  struct item {
    int left;
    std::atomic<int>* visits;
    void visit(feeder<item>& more) const {
      ++*visits;
      if (left != 0) more.push({left - 1, visits});
    }
  };
  std::atomic<int> visits = 0;
  run([&] { for_each_dynamic(std::vector<item>(100, {3, &visits}), &item::visit); });
  EXPECT_EQ(visits, 400);
}

TEST_F(callables, bodies_of_bags_that_add_nothing_take_no_feeder) {
  std::vector<std::atomic<int>> runs(n);
  std::vector<std::size_t> items(n);
  std::iota(items.begin(), items.end(), std::size_t{0});
  work_bag<std::size_t> bag;
  for (const std::size_t i : items) bag.push(i);
  run([&] {
    for_each_dynamic(items, [&](std::size_t i) { ++runs[i]; });
    for_each_dynamic(items.begin(), items.end(), [&](const std::size_t& i) { ++runs[i]; }, bag::steal_half{});
    bag.process([&](std::size_t& i) { ++runs[i]; });
  });
  for (const auto& each : runs) ASSERT_EQ(each, 3);
}

TEST_F(callables, a_stop_token_may_follow_the_body) {
  struct steps {
    int left = 1000;
    std::atomic<int>* runs;
    bool step(std::size_t budget) {
      for (; left != 0 && budget != 0; --budget, --left) ++*runs;
      return left != 0;
    }
    static std::optional<steps> split() { return std::nullopt; }
  };
  std::vector<int> items(1000);
  const auto runs_of = [&](const std::stop_token& stop, loop_status end) {
    std::atomic<int> runs = 0;
    const auto count = [&](const auto&... /*item*/) { ++runs; };
    run([&] {
      EXPECT_EQ(parallel_for(0, 1000, count, stop), end);
      EXPECT_EQ(parallel_for(0, 2000, 2, count, stop), end);
      EXPECT_EQ(parallel_for(items.begin(), items.end(), count, stop), end);
      EXPECT_EQ(parallel_for(items, count, stop), end);
      EXPECT_EQ(parallel_for(interval(0, 1000), count, stop), end);
      EXPECT_EQ(parallel_for(
                    blocked_range(0, 1000), [&](const auto& part) { runs += static_cast<int>(part.size()); }, stop),
                end);
      EXPECT_EQ(for_each_dynamic(items, count, stop), end);
      EXPECT_EQ(for_each_dynamic(items.begin(), items.end(), count, stop), end);
      work_bag<int> bag;
      for (const int i : items) bag.push(i);
      EXPECT_EQ(bag.process(count, stop), end);
      EXPECT_EQ(adaptive(steps{.runs = &runs}, stop), end);
    });
    return runs.load();
  };
  std::stop_source source;
  EXPECT_EQ(runs_of(source.get_token(), loop_status::complete), 10'000);
  source.request_stop();
  EXPECT_LT(runs_of(source.get_token(), loop_status::stopped), 10'000);
}

TEST_F(callables, worker_locals_call_members_of_values) {
  worker_local<sum> sums(sum{5});
  struct counted {
    int value = 0;
    void clear() { value = 0; }
  };
  const auto clear_all = [] {
    worker_local<counted> counts;
    counts.local().value = 3;
    counts.for_each(&counted::clear);
    return counts.combine([](counted a, counted b) { return counted{a.value + b.value}; }).value;
  };
  EXPECT_EQ(run(clear_all), 0);
  EXPECT_EQ(sums.combine(&sum::operator+), sum{5});
}

}  // namespace
}  // namespace filch
