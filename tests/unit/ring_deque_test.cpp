#include "deque/ring_deque.hpp"

#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace filch::detail::deque {
namespace {

TEST(ring_deque, pops_the_newest_and_gives_away_the_oldest) {
  std::vector<int> items(3);
  ring_deque<int> d(4);
  for (int& item : items) d.push(&item);
  EXPECT_EQ(d.pop(), &items[2]);
  const auto seen = d.oldest();
  ASSERT_EQ(seen.item, &items[0]);
  EXPECT_TRUE(d.take(seen));
  EXPECT_EQ(d.last_taken(), &items[0]);
  EXPECT_EQ(d.pop(), &items[1]);
  EXPECT_EQ(d.pop(), nullptr);
  EXPECT_TRUE(d.empty());
}

TEST(ring_deque, an_outdated_view_takes_nothing) {
  std::vector<int> items(2);
  ring_deque<int> d(4);
  for (int& item : items) d.push(&item);
  const auto seen = d.oldest();
  ASSERT_TRUE(d.take(seen));
  EXPECT_FALSE(d.take(seen));
}

TEST(ring_deque, the_owner_wins_the_last_entry_only_once) {
  int item = 0;
  ring_deque<int> d(4);
  d.push(&item);
  const auto seen = d.oldest();
  EXPECT_EQ(d.pop(), &item);
  EXPECT_FALSE(d.take(seen));
  EXPECT_EQ(d.pop(), nullptr);
}

TEST(ring_deque, does_what_a_plain_model_does_while_it_grows_and_wraps) {
  std::mt19937 random(2005);
  std::vector<int> items(4096);
  for (int round = 0; round < 50; ++round) {
    ring_deque<int> d(2);
    std::deque<int*> model;
    for (int step = 0; step < 3000; ++step) {
      switch (random() % 4) {
        case 0:
        case 1: {
          int* const item = &items[random() % items.size()];
          d.push(item);
          model.push_back(item);
          break;
        }
        case 2: {
          int* expected = nullptr;
          if (!model.empty()) {
            expected = model.back();
            model.pop_back();
          }
          ASSERT_EQ(d.pop(), expected);
          break;
        }
        default: {
          const auto seen = d.oldest();
          ASSERT_EQ(seen.item, model.empty() ? nullptr : model.front());
          if (seen.item == nullptr) break;
          ASSERT_TRUE(d.take(seen));
          model.pop_front();
        }
      }
    }
  }
}

}  // namespace
}  // namespace filch::detail::deque
