// Adaptive tasks: every unit of work once by identity, under every policy; budgets; what happens to tasks that are not
// run to their end.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "interval_task.hpp"
#include "support.hpp"

namespace filch {
namespace {

using tests::account;
using tests::interval_task;

/// A tree that grows while it is searched: the children of number i are 2 i + 1 and 2 i + 2, below the account's size.
/// It has its numbers in a vector, of which a split gives the older half.
struct tree_search {
  account* into;
  std::vector<std::size_t> open{0};

  bool step(std::size_t budget) {
    for (; budget != 0 && !open.empty(); --budget) {
      const std::size_t i = open.back();
      open.pop_back();
      into->ran(i);
      for (std::size_t child = 2 * i + 1; child < 2 * i + 3; ++child) {
        if (child < into->size()) open.push_back(child);
      }
    }
    return !open.empty();
  }

  std::optional<tree_search> split() {
    if (open.size() < 2) return std::nullopt;
    const auto middle = open.begin() + static_cast<std::ptrdiff_t>(open.size() / 2);
    tree_search half{into, {open.begin(), middle}};
    open.erase(open.begin(), middle);
    return half;
  }

  [[nodiscard]] std::size_t size() const { return open.size(); }
};

static_assert(adaptive_task<interval_task> && adaptive_task<tree_search>);
static_assert(!adaptive_task<const tree_search> && !adaptive_task<std::vector<int>>);

using parameters = std::tuple<tests::configuration, termination>;

class adaptive_everywhere : public testing::TestWithParam<parameters> {
 protected:
  [[nodiscard]] static adaptive_options with(std::size_t budget) { return {budget, std::get<1>(GetParam())}; }
  scheduler pool{std::get<0>(GetParam()).options()};
};

TEST_P(adaptive_everywhere, every_unit_once) {
  for (const std::size_t budget : {0U, 1U, 7U, 1'000'000U}) {
    for (const std::size_t size : {0U, 1U, 2U, 5000U}) {
      account units(size);
      pool.run([&] { adaptive(interval_task(units, 0, size), with(budget)); });
      EXPECT_EQ(units.first_not(1), size) << "budget " << budget;
    }
  }
}

TEST_P(adaptive_everywhere, work_that_grows) {
  for (const std::size_t budget : {0U, 1U, 64U}) {
    account units(20'000);
    tree_search task{&units};
    pool.run([&] { adaptive(task, with(budget)); });
    EXPECT_EQ(units.first_not(1), units.size()) << "budget " << budget;
    EXPECT_TRUE(task.open.empty());
  }
}

/// Beside and inside of everything else.
TEST_P(adaptive_everywhere, nested) {
  constexpr std::size_t outer = 20;
  account inner(outer * 100);
  account looped(outer * 10);
  account beside(1000);
  struct nesting {
    account* inner;
    account* looped;
    std::size_t first;
    std::size_t last;
    adaptive_options how;
    bool step(std::size_t budget) {
      for (; budget != 0 && first != last; --budget, ++first) {
        fork_join([this] { adaptive(interval_task(*inner, 100 * first, 100 * first + 100), how); },
                  [this] { parallel_for(10 * first, 10 * first + 10, [this](std::size_t i) { looped->ran(i); }); });
      }
      return first != last;
    }
    std::optional<nesting> split() {
      if (last - first < 2) return std::nullopt;
      const std::size_t middle = first + (last - first) / 2;
      return nesting{inner, looped, middle, std::exchange(last, middle), how};
    }
  };
  pool.run([&] {
    fork_join([&] { adaptive(nesting{&inner, &looped, 0, outer, with(3)}, with(1)); },
              [&] { adaptive(interval_task(beside, 0, beside.size()), with(10)); });
  });
  EXPECT_EQ(inner.first_not(1), inner.size());
  EXPECT_EQ(looped.first_not(1), looped.size());
  EXPECT_EQ(beside.first_not(1), beside.size());
}

/// Numbers from 0 on. Each task holds a share of `alive`.
struct failing {
  account* into;
  std::size_t first;
  std::size_t last;
  std::size_t bad;
  std::shared_ptr<std::atomic<int>> running;

  bool step(std::size_t budget) {
    for (; budget != 0 && first != last; --budget) {
      ++*running;
      into->ran(first);
      --*running;
      if (first++ == bad) throw std::runtime_error("unit " + std::to_string(bad));
    }
    return first != last;
  }
  std::optional<failing> split() {
    if (last - first < 2) return std::nullopt;
    const std::size_t middle = first + (last - first) / 2;
    return failing{into, middle, std::exchange(last, middle), bad, running};
  }
};

TEST_P(adaptive_everywhere, an_exception_ends_it_and_drops_the_rest) {
  for (const std::size_t bad : {0U, 1U, 999U, 1999U}) {
    account units(2000);
    const auto running = std::make_shared<std::atomic<int>>(0);
    pool.run([&] {
      try {
        adaptive(failing{&units, 0, units.size(), bad, running}, with(5));
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "unit " + std::to_string(bad));
      }
      EXPECT_EQ(*running, 0);
      EXPECT_EQ(running.use_count(), 1);
    });
    EXPECT_EQ(units.runs(bad), 1U);
    for (std::size_t i = 0; i < units.size(); ++i) ASSERT_LE(units.runs(i), 1U);
  }
}

TEST_P(adaptive_everywhere, a_stop_ends_it) {
  struct endless {
    std::atomic<std::size_t>* steps;
    std::stop_source* source;
    bool step(std::size_t /*budget*/) {
      if (steps->fetch_add(1) == 100) source->request_stop();
      return true;
    }
    std::optional<endless> split() { return *this; }
  };
  std::stop_source source;
  std::atomic<std::size_t> steps{0};
  pool.run([&] {
    endless task{&steps, &source};
    EXPECT_EQ(adaptive(task, with(0), source.get_token()), loop_status::stopped);
    const std::size_t before = steps;
    EXPECT_EQ(adaptive(task, with(0), source.get_token()), loop_status::stopped);
    EXPECT_EQ(steps, before) << "stopped already when it began";
    account units(100);
    EXPECT_EQ(adaptive(interval_task(units, 0, 100), with(0), std::stop_source().get_token()), loop_status::complete);
    EXPECT_EQ(units.first_not(1), units.size());
  });
}

/// Splits in parallel, and drops in parallel what it has left.
class forking {
 public:
  forking(account& done, account& dropped, std::size_t first, std::size_t last)
      : done_(&done), dropped_(&dropped), first_(first), last_(last) {}
  forking(forking&& from) noexcept
      : done_(from.done_),
        dropped_(from.dropped_),
        first_(from.first_),
        last_(std::exchange(from.last_, from.first_)) {}
  forking(const forking&) = delete;
  forking& operator=(const forking&) = delete;
  forking& operator=(forking&&) = delete;
  ~forking() {
    fork_join([] {}, [] {});
    for (; first_ != last_; ++first_) dropped_->ran(first_);
  }

  bool step(std::size_t budget) {
    for (; budget != 0 && first_ != last_; --budget) done_->ran(first_++);
    return first_ != last_;
  }
  std::optional<forking> split() {
    EXPECT_FALSE(std::exchange(splits_, true)) << "split while it is split";
    fork_join([] {}, [] {});
    splits_ = false;
    if (last_ - first_ < 2) return std::nullopt;
    const std::size_t middle = first_ + (last_ - first_) / 2;
    return forking(*done_, *dropped_, middle, std::exchange(last_, middle));
  }

 private:
  account* done_;
  account* dropped_;
  std::size_t first_;
  std::size_t last_;
  bool splits_ = false;
};

TEST_P(adaptive_everywhere, splits_and_destructors_may_fork) {
  for (const bool stops : {false, true}) {
    account done(20'000);
    account dropped(done.size());
    std::stop_source source;
    pool.run([&] {
      fork_join([&] { adaptive(forking(done, dropped, 0, done.size()), with(1), source.get_token()); },
                [&] {
                  if (stops) source.request_stop();
                });
    });
    for (std::size_t i = 0; i < done.size(); ++i) ASSERT_EQ(done.runs(i) + dropped.runs(i), 1U);
    if (!stops) {
      EXPECT_EQ(done.first_not(1), done.size());
    }
  }
}

/// Split-off tasks with nothing to do, as many as anybody asks for.
TEST_P(adaptive_everywhere, empty_tasks_do_no_harm) {
  struct generous {
    account* into;
    std::size_t first;
    std::size_t last;
    bool step(std::size_t /*budget*/) {
      if (first != last) into->ran(first++);
      return first != last;
    }
    std::optional<generous> split() { return generous{into, last, last}; }
  };
  account units(3000);
  pool.run([&] { adaptive(generous{&units, 0, units.size()}, with(0)); });
  EXPECT_EQ(units.first_not(1), units.size());
}

/// Ends with a loop, in which others may ask for more: what a split leaves behind is no reason to split again.
TEST_P(adaptive_everywhere, empty_tasks_may_end_with_loops) {
  struct looping {
    account* into;
    std::size_t first;
    std::size_t last;

    looping(account* to, std::size_t from, std::size_t until) : into(to), first(from), last(until) {}
    looping(looping&& from) noexcept : into(from.into), first(from.first), last(std::exchange(from.last, from.first)) {}
    looping(const looping&) = delete;
    looping& operator=(const looping&) = delete;
    looping& operator=(looping&&) = delete;
    ~looping() {
      parallel_for(0, 5, [](int) {});
    }
    bool step(std::size_t budget) {
      for (; budget != 0 && first != last; --budget) into->ran(first++);
      return first != last;
    }
    std::optional<looping> split() {
      EXPECT_NE(first, last) << "an empty task is split";
      const std::size_t middle = last - (last - first) / 2;
      return looping(into, middle, std::exchange(last, middle));
    }
  };
  for (int round = 0; round < 200; ++round) {
    account units(3000);
    pool.run([&] { adaptive(looping(&units, 0, units.size()), with(0)); });
    ASSERT_EQ(units.first_not(1), units.size());
  }
}

/// Both workers are needed: the task does not end before it was split.
TEST_P(adaptive_everywhere, is_split_when_somebody_is_idle) {
  struct meeting {
    std::atomic<int>* steps;
    std::size_t units;
    bool step(std::size_t /*budget*/) {
      if (units == 1) ++*steps;
      return units == 2 || *steps < 2;  // with two units for as long as nobody has taken one
    }
    std::optional<meeting> split() {
      if (units < 2) return std::nullopt;
      units = 1;
      return meeting{steps, 1};
    }
  };
  std::atomic<int> steps{0};
  pool.run([&] { adaptive(meeting{&steps, 2}, with(0)); });
  EXPECT_GE(steps, 2);
}

std::string name_of_parameters(const testing::TestParamInfo<parameters>& info) {
  const auto& [configuration, end] = info.param;
  return configuration.name() + (end == termination::counted ? "_counted" : "");
}

INSTANTIATE_TEST_SUITE_P(unit, adaptive_everywhere,
                         testing::Combine(testing::ValuesIn(tests::configurations({2, 3})),
                                          testing::Values(termination::join, termination::counted)),
                         name_of_parameters);

// With `receiver` nothing is given before somebody asks; other policies begin with an offer.

TEST(adaptive, on_one_worker_steps_have_the_whole_budget_and_nothing_is_split) {
  scheduler pool({.workers = 1, .policy = "receiver"});
  struct recorder {
    std::vector<std::size_t>* budgets;
    std::size_t left;
    bool step(std::size_t budget) {
      budgets->push_back(budget);
      left -= std::min(budget, left);
      return left != 0;
    }
    std::optional<recorder> split() {
      ADD_FAILURE() << "split although nobody asks";
      return std::nullopt;
    }
  };
  std::vector<std::size_t> budgets;
  pool.run([&] { adaptive(recorder{&budgets, 25}, {.budget = 10}); });
  EXPECT_EQ(budgets, (std::vector<std::size_t>{10, 10, 10}));
}

TEST(adaptive, finds_a_budget_and_remembers_it) {
  scheduler pool({.workers = 1});
  struct cheap {
    std::size_t* largest;
    std::size_t left;
    bool step(std::size_t budget) {
      *largest = std::max(*largest, budget);
      left -= std::min(budget, left);
      return left != 0;
    }
    std::optional<cheap> split() { return std::nullopt; }
  };
  std::size_t largest = 0;
  pool.run([&] { adaptive(cheap{&largest, 1'000'000'000}); });
  EXPECT_GT(largest, 1000U) << "units that cost nothing";
  std::size_t again = 0;
  pool.run([&] { adaptive(cheap{&again, 10'000}); });
  EXPECT_GT(again, 1U) << "the second call began anew";
}

TEST(adaptive, runs_from_a_thread_that_is_no_worker) {
  account units(1000);
  std::thread([&] { adaptive(interval_task(units, 0, units.size())); }).join();
  EXPECT_EQ(units.first_not(1), units.size());
}

TEST(adaptive, leaves_what_it_did_not_do_with_the_caller) {
  scheduler pool({.workers = 1, .policy = "receiver"});
  account units(100);
  failing task{&units, 0, 100, 49, std::make_shared<std::atomic<int>>(0)};
  EXPECT_THROW(pool.run([&] { adaptive(task, {.budget = 10}); }), std::runtime_error);
  EXPECT_EQ(task.first, 50U);
  task.bad = 100;
  pool.run([&] { adaptive(task, {.budget = 10}); });
  EXPECT_EQ(units.first_not(1), units.size());
}

/// The split that fails is asked for: by `chase_lev`, whose owners split unasked.
TEST(adaptive, throws_what_a_split_throws) {
  scheduler pool({.workers = 1, .policy = "chase_lev"});
  struct unsplittable {
    bool step(std::size_t /*budget*/) { return true; }
    std::optional<unsplittable> split() { throw std::runtime_error("cannot split"); }
  };
  try {
    pool.run([&] { adaptive(unsplittable{}); });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "cannot split");
  }
}

}  // namespace
}  // namespace filch
