// Bags: every item once by identity, in every way, with every chunk size; what happens to items that nobody processes.
#include <array>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace filch {
namespace {

using tests::account;

constexpr bag_kind kinds[] = {bag_kind::inherited,  bag_kind::standard,   bag_kind::eager_chunker,
                              bag_kind::naive_lazy, bag_kind::steal_half, bag_kind::lazy_splitter};

/// An item brings the two below it in a tree that is numbered level by level.
constexpr auto first_below = [](std::size_t i) { return 2 * i + 1; };

void process_tree(account& items, sharing how) {
  const std::array<std::size_t, 1> root{0};
  for_each_dynamic(
      root.begin(), root.end(),
      [&](std::size_t& i, feeder<std::size_t>& more) {
        items.ran(i);
        for (std::size_t child = first_below(i); child < first_below(i) + 2; ++child) {
          if (child < items.size()) more.push(child);
        }
      },
      how);
}

/// Counts how many of them live.
class counted {
 public:
  explicit counted(std::size_t value) : value_(value) { ++alive(); }
  counted(counted&& from) noexcept : value_(from.value_) { ++alive(); }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  counted& operator=(counted&&) = delete;
  ~counted() { --alive(); }
  [[nodiscard]] std::size_t value() const { return value_; }
  static std::atomic<int>& alive() {
    static std::atomic<int> count{0};
    return count;
  }

 private:
  std::size_t value_;
};

using parameters = std::tuple<bag_kind, int>;  // and workers

class work_bag_ways : public testing::TestWithParam<parameters> {
 protected:
  /// With different sizes of a chunk.
  [[nodiscard]] static std::vector<sharing> ways() {
    const bag_kind kind = std::get<0>(GetParam());
    return {{kind, 1}, {kind, 2}, {kind, 8}, {kind, 100}};
  }
  [[nodiscard]] static int workers() { return std::get<1>(GetParam()); }
};

TEST_P(work_bag_ways, every_item_once) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{17}, std::size_t{3000}}) {
      account items(size);
      s.run([&] { process_tree(items, how); });
      EXPECT_EQ(items.first_not(1), size);
    }
  }
}

TEST_P(work_bag_ways, many_items_to_begin_with_and_none_beside) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    account items(2000);
    std::vector<std::size_t> all(items.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    s.run([&] {
      for_each_dynamic(all.begin(), all.end(), [&](std::size_t& i, feeder<std::size_t>&) { items.ran(i); }, how);
    });
    EXPECT_EQ(items.first_not(1), items.size());
  }
}

TEST_P(work_bag_ways, a_chain_of_items) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    account items(2000);
    s.run([&] {
      work_bag<std::size_t> bag;
      bag.push(0);
      bag.process(
          [&](std::size_t& i, feeder<std::size_t>& more) {
            items.ran(i);
            if (i + 1 < items.size()) more.emplace(i + 1);
          },
          how);
      EXPECT_TRUE(bag.empty());
    });
    EXPECT_EQ(items.first_not(1), items.size());
  }
}

TEST_P(work_bag_ways, items_that_can_only_be_moved) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    account items(1000);
    s.run([&] {
      work_bag<std::unique_ptr<std::size_t>> bag;
      bag.push(std::make_unique<std::size_t>(0));
      bag.process(
          [&](std::unique_ptr<std::size_t>& item, feeder<std::unique_ptr<std::size_t>>& more) {
            const std::size_t i = *std::exchange(item, nullptr);
            items.ran(i);
            for (std::size_t child = first_below(i); child < first_below(i) + 2; ++child) {
              if (child < items.size()) more.push(std::make_unique<std::size_t>(child));
            }
          },
          how);
    });
    EXPECT_EQ(items.first_not(1), items.size());
  }
}

TEST_P(work_bag_ways, an_exception_ends_it_and_drops_the_rest) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    for (const std::size_t bad : {0U, 5U, 300U}) {
      account items(1000);
      std::atomic<int> running{0};
      s.run([&] {
        work_bag<counted> bag;
        bag.emplace(0U);
        try {
          bag.process(
              [&](counted& item, feeder<counted>& more) {
                ++running;
                items.ran(item.value());
                for (std::size_t child = first_below(item.value()); child < first_below(item.value()) + 2; ++child) {
                  if (child < items.size()) more.emplace(child);
                }
                --running;
                if (item.value() == bad) throw std::runtime_error("item " + std::to_string(bad));
              },
              how);
          ADD_FAILURE() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
          EXPECT_EQ(error.what(), "item " + std::to_string(bad));
        }
        EXPECT_EQ(running, 0);
        EXPECT_TRUE(bag.empty());
        EXPECT_EQ(counted::alive(), 0);
      });
      for (std::size_t i = 0; i < items.size(); ++i) ASSERT_LE(items.runs(i), 1U);
    }
  }
}

/// Says so when it is destroyed, and forks then.
class forking_item {
 public:
  forking_item(account& gone, std::size_t number) : gone_(&gone), number_(number) {}
  forking_item(forking_item&& from) noexcept : gone_(std::exchange(from.gone_, nullptr)), number_(from.number_) {}
  forking_item(const forking_item&) = delete;
  forking_item& operator=(const forking_item&) = delete;
  forking_item& operator=(forking_item&&) = delete;
  ~forking_item() {
    if (gone_ == nullptr) return;
    fork_join([] {}, [] {});
    gone_->ran(number_);
  }
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  account* gone_;
  std::size_t number_;
};

TEST_P(work_bag_ways, destructors_of_dropped_items_may_fork) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    account gone(500);
    s.run([&] {
      work_bag<forking_item> bag;
      for (std::size_t i = 0; i < gone.size(); ++i) bag.emplace(gone, i);
      EXPECT_THROW(bag.process(
                       [](forking_item& item, feeder<forking_item>&) {
                         if (item.number() % 100 == 3) throw std::runtime_error("three");
                       },
                       how),
                   std::runtime_error);
    });
    EXPECT_EQ(gone.first_not(1), gone.size());
  }
}

TEST_P(work_bag_ways, a_stop_ends_it) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    s.run([&] {
      std::stop_source source;
      std::atomic<std::size_t> ran{0};
      const std::array<std::size_t, 1> first{0};
      // Without the stop this would never end.
      const auto endless = [&](std::size_t& i, feeder<std::size_t>& more) {
        if (ran.fetch_add(1) == 200) source.request_stop();
        more.push(i + 1);
        more.push(i + 1);
      };
      EXPECT_EQ(for_each_dynamic(first.begin(), first.end(), endless, how, source.get_token()), loop_status::stopped);
      const std::size_t before = ran;
      EXPECT_EQ(for_each_dynamic(first.begin(), first.end(), endless, how, source.get_token()), loop_status::stopped);
      EXPECT_EQ(ran, before) << "stopped already when it began";
      EXPECT_EQ(for_each_dynamic(
                    first.begin(), first.end(), [&](std::size_t&, feeder<std::size_t>&) { ++ran; }, how,
                    std::stop_source().get_token()),
                loop_status::complete);
      EXPECT_EQ(ran, before + 1);
    });
  }
}

TEST_P(work_bag_ways, bags_in_bags_loops_in_bags_bags_in_loops) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    account inner(64 * 31);
    account looped(64 * 20);
    s.run([&] {
      account outer(64);
      const std::array<std::size_t, 1> root{0};
      for_each_dynamic(
          root.begin(), root.end(),
          [&](std::size_t& o, feeder<std::size_t>& more) {
            outer.ran(o);
            for (std::size_t child = first_below(o); child < first_below(o) + 2; ++child) {
              if (child < outer.size()) more.push(child);
            }
            for_each_dynamic(
                root.begin(), root.end(),
                [&, o](std::size_t& i, feeder<std::size_t>& inside) {
                  inner.ran(31 * o + i);
                  if (first_below(i) < 31) {
                    inside.push(first_below(i));
                    inside.push(first_below(i) + 1);
                  }
                },
                how);
            parallel_for(std::size_t{0}, std::size_t{20}, [&, o](std::size_t i) { looped.ran(20 * o + i); });
          },
          how);
      EXPECT_EQ(outer.first_not(1), outer.size());
      parallel_for(0, 8, [&](int) {
        account items(50);
        process_tree(items, how);
        EXPECT_EQ(items.first_not(1), items.size());
      });
    });
    EXPECT_EQ(inner.first_not(1), inner.size());
    EXPECT_EQ(looped.first_not(1), looped.size());
  }
}

TEST_P(work_bag_ways, tasks_inside_of_items) {
  scheduler s({.workers = workers()});
  for (const sharing how : ways()) {
    account items(300);
    account tasks(600);
    s.run([&] {
      const std::array<std::size_t, 1> root{0};
      for_each_dynamic(
          root.begin(), root.end(),
          [&](std::size_t& i, feeder<std::size_t>& more) {
            items.ran(i);
            for (std::size_t child = first_below(i); child < first_below(i) + 2; ++child) {
              if (child < items.size()) more.push(child);
            }
            fork_join([&] { tasks.ran(2 * i); }, [&] { tasks.ran(2 * i + 1); });
          },
          how);
    });
    EXPECT_EQ(items.first_not(1), items.size());
    EXPECT_EQ(tasks.first_not(1), tasks.size());
  }
}

std::string name_of_ways(const testing::TestParamInfo<parameters>& info) {
  static const char* const names[] = {"inherited",  "standard",   "eager_chunker",
                                      "naive_lazy", "steal_half", "lazy_splitter"};
  return std::string(names[static_cast<std::size_t>(std::get<0>(info.param))]) + "_" +
         std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(unit, work_bag_ways, testing::Combine(testing::ValuesIn(kinds), testing::Values(1, 3)),
                         name_of_ways);

TEST(work_bag, is_empty_again_and_can_be_filled_again) {
  scheduler s({.workers = 2});
  work_bag<int> bag;
  EXPECT_TRUE(bag.empty());
  bag.process([](int&, feeder<int>&) { ADD_FAILURE() << "an item of an empty bag"; });
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) bag.push(i);
    EXPECT_EQ(bag.size(), 10U);
    std::atomic<int> sum{0};
    s.run([&] { bag.process([&](int& i, feeder<int>&) { sum += i; }); });
    EXPECT_EQ(sum, 45);
    EXPECT_TRUE(bag.empty());
  }
  bag.push(1);
  bag.clear();
  EXPECT_TRUE(bag.empty());
}

TEST(work_bag, runs_from_a_thread_that_is_no_worker) {
  account items(1000);
  std::thread([&] { process_tree(items, {}); }).join();
  EXPECT_EQ(items.first_not(1), items.size());
}

TEST(work_bag, takes_items_from_any_iterator) {
  scheduler s({.workers = 2});
  s.run([&] {
    std::istringstream numbers("1 2 3 4");
    std::atomic<int> sum{0};
    for_each_dynamic(std::istream_iterator<int>(numbers), std::istream_iterator<int>(),
                     [&](int& i, feeder<int>&) { sum += i; });
    EXPECT_EQ(sum, 10);
    std::vector<std::unique_ptr<int>> owners;
    owners.push_back(std::make_unique<int>(5));
    owners.push_back(std::make_unique<int>(6));
    for_each_dynamic(std::move_iterator(owners.begin()), std::move_iterator(owners.end()),
                     [&](std::unique_ptr<int>& i, feeder<std::unique_ptr<int>>&) { sum += *i; });
    EXPECT_EQ(sum, 21);
    EXPECT_EQ(owners[0], nullptr);
  });
}

TEST(work_bag, takes_items_from_containers) {
  const std::list<int> roots{1, 2, 3};
  std::atomic<int> sum{0};
  const auto count_down = [&](int& i, feeder<int>& more) {
    sum += i;
    if (i > 1) more.push(i - 1);
  };
  for_each_dynamic(roots, count_down);
  EXPECT_EQ(sum, 1 + 3 + 6);
  std::stop_source source;
  EXPECT_EQ(for_each_dynamic(roots, count_down, {}, source.get_token()), loop_status::complete);
  source.request_stop();
  EXPECT_EQ(for_each_dynamic(roots, count_down, {}, source.get_token()), loop_status::stopped);
  EXPECT_EQ(roots, (std::list<int>{1, 2, 3}));
}

TEST(work_bag, on_one_worker_takes_the_newest_first) {
  scheduler s({.workers = 1});
  for (const bag_kind kind : kinds) {
    std::vector<int> order;
    s.run([&] {
      work_bag<int> bag;
      for (int i = 0; i < 3; ++i) bag.push(i);
      bag.process(
          [&](int& i, feeder<int>& more) {
            order.push_back(i);
            if (i == 1) more.push(10);
          },
          sharing{kind, 1});
    });
    EXPECT_THAT(order, testing::ElementsAre(2, 1, 10, 0));
  }
}

TEST(work_bag, counts_its_transactions) {
  scheduler s({.workers = 1});
  const auto transactions = [&](sharing how) {
    s.reset_stats();
    s.run([&] {
      work_bag<int> bag;
      for (int i = 0; i < 100; ++i) bag.push(i);
      bag.process([](int&, feeder<int>&) {}, how);
    });
    return s.stats().transactions;
  };
  // Shared: all but one chunk, as long as there are two. Nobody steals, so as many are taken back.
  EXPECT_EQ(transactions(bag::eager_chunker{.chunk = 1}), 2 * 99U);
  EXPECT_EQ(transactions(bag::eager_chunker{.chunk = 10}), 2 * 9U);
  EXPECT_EQ(transactions(bag::steal_half{.chunk = 30}), 2 * 2U);
  // One chunk of ten items is shared, of 100; it is taken back when the 90 others are done.
  EXPECT_EQ(transactions(bag::naive_lazy{.chunk = 10}), 2 * 1U);
  // 50, of which 25 are shared again when they are taken back, of which 12; these are fewer than two chunks.
  EXPECT_EQ(transactions(bag::lazy_splitter{.chunk = 10}), 2 * 3U);
  EXPECT_EQ(transactions(bag::lazy_splitter{.chunk = 100}), 0U);
}

TEST(work_bag, refuses_a_chunk_of_nothing_and_a_way_that_does_not_go_with_the_policy) {
  const auto error_of = [](const std::string& policy, sharing how) -> std::string {
    scheduler s({.workers = 1, .policy = policy});
    work_bag<int> bag;
    bag.push(1);
    try {
      s.run([&] { bag.process([](int&, feeder<int>&) {}, how); });
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(bag.size(), 1U);
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of("standard", bag::naive_lazy{.chunk = 0}), "filch: chunk '0' of a bag has no items; use 1 or more");
  EXPECT_EQ(
      error_of("chase_lev", bag::standard{}),
      "filch: bag 'standard' does not go with policy 'chase_lev', whose owners nobody can ask for work; use another "
      "way to share the bag or policy 'standard'");
  EXPECT_EQ(error_of("chase_lev", {}), "no error");
}

/// Both workers are needed: the first item waits for the second, which is shared only because it was pushed.
TEST(work_bag, what_an_item_adds_is_shared_before_it_ends) {
  scheduler s({.workers = 2});
  for (const bag_kind kind : kinds) {
    s.run([&] {
      std::atomic<int> arrived{0};
      const std::array<int, 1> first{2};
      for_each_dynamic(
          first.begin(), first.end(),
          [&](int& i, feeder<int>& more) {
            if (i == 2) {
              more.push(0);
              more.push(1);
            }
            if (i == 0 || i == 2) {
              ++arrived;
              // The standard way shares when it is asked: by a look at whether it is.
              while (arrived < 2) fork_join([] {}, [] { std::this_thread::yield(); });
            }
          },
          sharing{kind, 1});
      EXPECT_EQ(arrived, 2);
    });
  }
}

}  // namespace
}  // namespace filch
