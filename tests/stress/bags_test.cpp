// Bags under contention: every item once by identity, whatever the policy, the join, the way and the number of workers.
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chains.hpp"
#include "support.hpp"

namespace filch {
namespace {

using tests::account;

class bags : public testing::TestWithParam<tests::configuration> {
 protected:
  /// The default goes with every policy.
  [[nodiscard]] static std::vector<sharing> ways() {
    return {{},
            bag::eager_chunker{},
            bag::eager_chunker{.chunk = 5},
            bag::naive_lazy{},
            bag::naive_lazy{.chunk = 5},
            bag::steal_half{},
            bag::steal_half{.chunk = 5},
            bag::lazy_splitter{},
            bag::lazy_splitter{.chunk = 5}};
  }
};

/// Items of very different length in a tree without balance: an item stands for an interval, takes its first number and
/// brings up to three parts of the rest.
struct interval {
  std::size_t first;
  std::size_t last;
};

void process(account& items, interval whole, sharing how) {
  const std::array<interval, 1> root{whole};
  for_each_dynamic(
      root.begin(), root.end(),
      [&](interval& i, feeder<interval>& more) {
        items.ran(i.first);
        std::size_t rest = i.first + 1;
        for (std::size_t n = 0; n < 2 && rest < i.last; ++n) {
          const std::size_t end = rest + tests::scrambled(rest) % (i.last - rest) + 1;
          more.push({rest, end});
          rest = end;
        }
        if (rest < i.last) more.push({rest, i.last});
        volatile std::size_t work = tests::scrambled(i.first) % 64;
        while (work != 0) work = work - 1;
        // Where there are fewer processors than workers, the others come to their turn while there is something to
        // take.
        if (i.first % 64 == 0) std::this_thread::yield();
      },
      how);
}

TEST_P(bags, trees_without_balance) {
  scheduler s(GetParam().options());
  for (const sharing how : ways()) {
    tests::until_stolen(s, 1, [&] {
      account items(5000);
      s.run([&] { process(items, {0, items.size()}, how); });
      ASSERT_EQ(items.first_not(1), items.size());
    });
    if (HasFatalFailure()) return;
  }
}

/// Bags whose items process bags, loops and tasks, side by side with a fork: frames of all kinds on one worker.
TEST_P(bags, nested_with_everything) {
  scheduler s(GetParam().options());
  for (const sharing how : ways()) {
    account inner(30 * 20);
    account looped(30 * 10);
    account beside(100);
    const std::array<std::size_t, 1> root{0};
    s.run([&] {
      fork_join([&] { process(beside, {0, beside.size()}, how); },
                [&] {
                  for_each_dynamic(
                      root.begin(), root.end(),
                      [&](std::size_t& o, feeder<std::size_t>& more) {
                        for (std::size_t below = 2 * o + 1; below < 2 * o + 3; ++below) {
                          if (below < 30) more.push(below);
                        }
                        fork_join([&] { parallel_for(10 * o, 10 * o + 10, [&](std::size_t i) { looped.ran(i); }); },
                                  [&] { process(inner, {20 * o, 20 * o + 20}, how); });
                      },
                      how);
                });
    });
    ASSERT_EQ(beside.first_not(1), beside.size());
    ASSERT_EQ(inner.first_not(1), inner.size());
    ASSERT_EQ(looped.first_not(1), looped.size());
  }
}

TEST_P(bags, exceptions_lose_no_item_and_run_none_twice) {
  scheduler s(GetParam().options());
  for (const sharing how : ways()) {
    account items(500);
    const auto alive = std::make_shared<std::atomic<int>>(0);
    // Each item holds a share of `alive`: the use count is the number of items.
    using item = std::pair<std::size_t, std::shared_ptr<std::atomic<int>>>;
    const auto body = [&](item& i, feeder<item>& more) {
      items.ran(i.first);
      for (std::size_t below = 2 * i.first + 1; below < 2 * i.first + 3; ++below) {
        if (below < items.size()) more.emplace(below, i.second);
      }
      if (i.first % 100 == 99) throw std::runtime_error("thrown");
    };
    bool caught = false;
    s.run([&] {
      work_bag<item> bag;
      bag.emplace(0U, alive);
      try {
        bag.process(body, how);
      } catch (const std::runtime_error&) {
        caught = true;
      }
    });
    ASSERT_TRUE(caught);
    ASSERT_EQ(alive.use_count(), 1);
    for (std::size_t i = 0; i < items.size(); ++i) ASSERT_LE(items.runs(i), 1U);
  }
}

/// An item brings the next one and a leaf. A worker that has nothing but the leaf left waits for the thief of the next
/// one, and then takes from it what comes after that: so do both in turn, and the stack must not grow with it.
TEST_P(bags, chains_need_no_stack) {
  constexpr int patience = 100;
  struct item {
    std::size_t link;
    bool leaf;
  };
  scheduler s(GetParam().options());
  for (const sharing how : ways()) {
    if (how.chunk != 1) continue;  // a single item would not be shared
    tests::chain_account chain(1000);
    const std::array<item, 1> root{item{0, false}};
    s.run([&] {
      for_each_dynamic(
          root.begin(), root.end(),
          [&](item& i, feeder<item>& more) {
            if (!i.leaf) {
              chain.begins(i.link);
              if (i.link + 1 == chain.links.size()) return;
              more.push({i.link + 1, false});
              more.push({i.link, true});
              return;
            }
            chain.stack.here();
            for (int turn = 0; !chain.has_begun(i.link + 1) && (turn < patience || !chain.handed_on()); ++turn) {
              chain.wait();
              // Gives whoever asks what this worker has. With `random` a join may run anything, on top of this.
              if (has_safe_waits(GetParam().join) || !chain.handed_on()) fork_join([] {}, [] {});
            }
          },
          how);
    });
    ASSERT_EQ(chain.links.first_not(1), chain.links.size());
    EXPECT_LT(chain.stack.most(), 64 * 1024U);
  }
}

INSTANTIATE_TEST_SUITE_P(stress, bags, testing::ValuesIn(tests::configurations({2, 4, 8})), tests::name_of);

}  // namespace
}  // namespace filch
