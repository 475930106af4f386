// Adaptive tasks under contention: every unit once by identity, whatever the policy, the join, the budget and the
// number of workers.
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chains.hpp"
#include "interval_task.hpp"
#include "support.hpp"

namespace filch {
namespace {

using tests::account;

/// Units of very different length in a tree without balance: an interval stands for its first number, and brings up to
/// three parts of the rest.
class unbalanced_search {
 public:
  unbalanced_search(account& into, std::size_t first, std::size_t last) : into_(&into), open_{{first, last}} {}

  bool step(std::size_t budget) {
    for (; budget != 0 && !open_.empty(); --budget) {
      const auto [first, last] = open_.back();
      open_.pop_back();
      visit(first);
      std::size_t rest = first + 1;
      for (std::size_t n = 0; n < 2 && rest < last; ++n) {
        const std::size_t end = rest + tests::scrambled(rest) % (last - rest) + 1;
        open_.emplace_back(rest, end);
        rest = end;
      }
      if (rest < last) open_.emplace_back(rest, last);
    }
    return !open_.empty();
  }

  std::optional<unbalanced_search> split() {
    if (open_.size() < 2) return std::nullopt;
    const auto middle = open_.begin() + static_cast<std::ptrdiff_t>(open_.size() / 2);
    unbalanced_search half(*into_, {open_.begin(), middle});
    open_.erase(open_.begin(), middle);
    return half;
  }

  [[nodiscard]] std::size_t size() const { return open_.size(); }

 private:
  using interval = std::pair<std::size_t, std::size_t>;

  unbalanced_search(account& into, std::vector<interval> open) : into_(&into), open_(std::move(open)) {}

  void visit(std::size_t i) {
    into_->ran(i);
    volatile std::size_t work = tests::scrambled(i) % 64;
    while (work != 0) work = work - 1;
    // Where there are fewer processors than workers, the others come to their turn while there is something to take.
    if (i % 64 == 0) std::this_thread::yield();
  }

  account* into_;
  std::vector<interval> open_;
};

class adaptive_tasks : public testing::TestWithParam<tests::configuration> {
 protected:
  scheduler pool{GetParam().options()};
  const std::vector<adaptive_options> ways{
      {}, {.budget = 1}, {.budget = 20}, {.end = termination::counted}, {.budget = 1, .end = termination::counted}};
};

TEST_P(adaptive_tasks, trees_without_balance) {
  for (const adaptive_options how : ways) {
    tests::until_stolen(pool, 1, [&] {
      account units(10'000);
      pool.run([&] { adaptive(unbalanced_search(units, 0, units.size()), how); });
      ASSERT_EQ(units.first_not(1), units.size());
    });
    if (HasFatalFailure()) return;
  }
}

/// Calls one after the other: records and workers of the last one are used again at once.
TEST_P(adaptive_tasks, many_short_ones) {
  for (const adaptive_options how : ways) {
    account units(200 * 50);
    pool.run([&] {
      for (std::size_t i = 0; i < 200; ++i) adaptive(unbalanced_search(units, 50 * i, 50 * i + 50), how);
    });
    ASSERT_EQ(units.first_not(1), units.size());
  }
}

/// Adaptive tasks side by side in loops, whose iterations are shared as well.
TEST_P(adaptive_tasks, in_a_loop) {
  for (const adaptive_options how : ways) {
    account units(40 * 250);
    pool.run([&] {
      parallel_for(std::size_t{0}, std::size_t{40},
                   [&](std::size_t i) { adaptive(unbalanced_search(units, 250 * i, 250 * i + 250), how); });
    });
    ASSERT_EQ(units.first_not(1), units.size());
  }
}

/// Steps that fork: what waits inside of a step meets parts of the call everywhere.
class forking_steps {
 public:
  forking_steps(account& into, adaptive_options how, std::size_t first, std::size_t last)
      : into_(&into), how_(how), first_(first), last_(last) {}

  bool step(std::size_t budget) {
    for (; budget != 0 && first_ != last_; --budget, ++first_) {
      fork_join([this] { adaptive(unbalanced_search(*into_, 40 * first_, 40 * first_ + 20), how_); },
                [this] { adaptive(unbalanced_search(*into_, 40 * first_ + 20, 40 * first_ + 40), how_); });
    }
    return first_ != last_;
  }

  std::optional<forking_steps> split() {
    if (last_ - first_ < 2) return std::nullopt;
    const std::size_t middle = first_ + (last_ - first_) / 2;
    return forking_steps(*into_, how_, middle, std::exchange(last_, middle));
  }

 private:
  account* into_;
  adaptive_options how_;
  std::size_t first_;
  std::size_t last_;
};

TEST_P(adaptive_tasks, nested) {
  for (const adaptive_options how : ways) {
    account units(100 * 40);
    pool.run([&] { adaptive(forking_steps(units, how, 0, 100), how); });
    ASSERT_EQ(units.first_not(1), units.size());
  }
}

/// Throws at every hundredth number. Each task holds a share of `alive`: the use count is the number of tasks.
struct failing {
  account* into;
  std::shared_ptr<int> alive;
  std::size_t first;
  std::size_t last;

  bool step(std::size_t budget) {
    for (; budget != 0 && first != last; --budget) {
      into->ran(first);
      if (first++ % 100 == 99) throw std::runtime_error("thrown");
    }
    return first != last;
  }
  std::optional<failing> split() {
    if (last - first < 2) return std::nullopt;
    const std::size_t middle = first + (last - first) / 2;
    return failing{into, alive, middle, std::exchange(last, middle)};
  }
};

TEST_P(adaptive_tasks, exceptions_lose_no_task_and_run_no_unit_twice) {
  for (const adaptive_options how : ways) {
    account units(2000);
    const auto alive = std::make_shared<int>(0);
    bool caught = false;
    pool.run([&] {
      try {
        adaptive(failing{&units, alive, 0, units.size()}, how);
      } catch (const std::runtime_error&) {
        caught = true;
      }
    });
    ASSERT_TRUE(caught);
    ASSERT_EQ(alive.use_count(), 1);
    for (std::size_t i = 0; i < units.size(); ++i) ASSERT_LE(units.runs(i), 1U);
  }
}

/// The links from `next` on, and what is left to be done beside them: a step for each look whether the next one has
/// begun. Splitting gives all links away.
class chain_task {
 public:
  chain_task(tests::chain_account& into, std::size_t next, std::size_t last) : into_(&into), next_(next), last_(last) {}

  bool step(std::size_t /*budget*/) {
    if (beside_ != 0 && !into_->has_begun(begun_ + 1)) {
      into_->stack.here();
      if (into_->handed_on()) --beside_;
      into_->wait();
      return true;
    }
    if (next_ == last_) return false;
    begun_ = next_++;
    into_->begins(begun_);
    beside_ = begun_ + 1 == into_->links.size() ? 0 : patience;
    return beside_ != 0;
  }

  std::optional<chain_task> split() {
    if (beside_ == 0 || next_ == last_) return std::nullopt;
    return chain_task(*into_, next_, std::exchange(last_, next_));
  }

 private:
  static constexpr int patience = 100;

  tests::chain_account* into_;
  std::size_t next_;
  std::size_t last_;
  std::size_t begun_ = 0;
  int beside_ = 0;
};

TEST_P(adaptive_tasks, chains_need_no_stack) {
  for (const termination end : {termination::join, termination::counted}) {
    tests::chain_account chain(1000);
    pool.run([&] { adaptive(chain_task(chain, 0, chain.links.size()), {.budget = 1, .end = end}); });
    ASSERT_EQ(chain.links.first_not(1), chain.links.size());
    EXPECT_LT(chain.stack.most(), 64 * 1024U);
  }
}

INSTANTIATE_TEST_SUITE_P(stress, adaptive_tasks, testing::ValuesIn(tests::configurations({2, 4, 8})), tests::name_of);

}  // namespace
}  // namespace filch
