#include "deque/split_deque.hpp"

#include <random>

#include <gtest/gtest.h>

namespace filch::detail::deque {
namespace {

TEST(split_deque, begins_with_nothing_shared) {
  const split_deque d;
  EXPECT_TRUE(d.load().all_stolen);
  EXPECT_FALSE(d.load().something_shared());
  EXPECT_EQ(d.load().shared(), 0U);
}

TEST(split_deque, shares_grows_and_shrinks_as_figure_4_of_the_paper) {
  split_deque d;
  d.share_first(0);
  EXPECT_EQ(d.load().tail, 0U);
  EXPECT_EQ(d.load().split, 1U);
  d.grow(8);
  EXPECT_EQ(d.load().shared(), 8U);

  split_deque::index split = 0;
  ASSERT_EQ(d.shrink(7, split), split_deque::shrunk::reclaimed);
  EXPECT_EQ(split, 4U);  // (tail + split) / 2
  ASSERT_EQ(d.shrink(3, split), split_deque::shrunk::reclaimed);
  EXPECT_EQ(split, 2U);
}

TEST(split_deque, shrinks_at_least_to_the_wanted_task) {
  split_deque d;
  d.share_first(0);
  d.grow(10);
  split_deque::index split = 0;
  ASSERT_EQ(d.shrink(2, split), split_deque::shrunk::reclaimed);
  EXPECT_EQ(split, 2U);
}

TEST(split_deque, tells_a_stolen_task_from_all_stolen) {
  split_deque d;
  d.share_first(0);
  d.grow(3);
  ASSERT_TRUE(d.take(d.load(), 2));
  split_deque::index split = 0;
  EXPECT_EQ(d.shrink(1, split), split_deque::shrunk::taken);
  EXPECT_EQ(split, 3U);
  ASSERT_TRUE(d.take(d.load(), 1));
  EXPECT_EQ(d.shrink(2, split), split_deque::shrunk::all_stolen);
  d.set_all_stolen(3);
  EXPECT_TRUE(d.load().all_stolen);
  EXPECT_EQ(d.load().tail, 3U);
}

TEST(split_deque, an_outdated_view_takes_nothing) {
  split_deque d;
  d.share_first(0);
  d.grow(4);
  const auto seen = d.load();
  ASSERT_TRUE(d.take(seen, 1));
  EXPECT_FALSE(d.take(seen, 1));  // another thief was faster

  const auto before_epoch = d.load();
  d.next_epoch();
  EXPECT_FALSE(d.take(before_epoch, 1));  // the owner has ended an activation
  EXPECT_TRUE(d.take(d.load(), 1));
}

TEST(split_deque, a_new_epoch_changes_nothing_else) {
  split_deque d;
  d.share_first(5);
  d.grow(9);
  const auto before = d.load();
  d.next_epoch();
  const auto after = d.load();
  EXPECT_NE(before.epoch, after.epoch);
  EXPECT_EQ(before.tail, after.tail);
  EXPECT_EQ(before.split, after.split);
  EXPECT_EQ(before.all_stolen, after.all_stolen);
}

TEST(split_deque, holds_the_largest_index) {
  split_deque d;
  d.share_first(split_deque::max_tasks - 1);
  EXPECT_EQ(d.load().split, split_deque::max_tasks);
  EXPECT_EQ(d.load().tail, split_deque::max_tasks - 1);
  EXPECT_EQ(d.load().epoch, 0U);
  EXPECT_FALSE(d.load().all_stolen);
}

/// The same operations on plain numbers.
struct model {
  split_deque::index tail = 0;
  split_deque::index split = 0;
  split_deque::index head = 0;
  bool all_stolen = true;
};

TEST(split_deque, does_what_a_plain_model_does) {
  std::mt19937 random(20140825);  // any seed
  for (int round = 0; round < 200; ++round) {
    split_deque d;
    model m;
    for (int step = 0; step < 400; ++step) {
      switch (random() % 5) {
        case 0:  // push
          ++m.head;
          if (m.all_stolen) {
            m.tail = m.head - 1;
            m.split = m.head;
            m.all_stolen = false;
            d.share_first(m.tail);
          }
          break;
        case 1:  // pop
          if (m.head == 0 || m.all_stolen) break;
          if (m.split == m.head) {
            split_deque::index split = 0;
            const auto result = d.shrink(m.head - 1, split);
            if (m.tail == m.split) {
              ASSERT_EQ(result, split_deque::shrunk::all_stolen);
              d.set_all_stolen(m.head);
              m.all_stolen = true;
              break;
            }
            ASSERT_EQ(result, split_deque::shrunk::reclaimed);
            m.split = (m.tail + m.split) / 2;
            ASSERT_EQ(split, m.split);
          }
          --m.head;
          break;
        case 2:  // grow
          if (m.all_stolen || m.split == m.head) break;
          m.split = (m.split + m.head + 1) / 2;
          d.grow(m.split);
          break;
        case 3: {  // steal
          const auto seen = d.load();
          ASSERT_EQ(seen.all_stolen, m.all_stolen);
          ASSERT_EQ(seen.something_shared(), !m.all_stolen && m.tail < m.split);
          if (!seen.something_shared()) break;
          ASSERT_EQ(seen.tail, m.tail);
          const auto count = 1 + static_cast<split_deque::index>(random()) % seen.shared();
          ASSERT_TRUE(d.take(seen, count));
          m.tail += count;
          break;
        }
        default:
          d.next_epoch();
      }
    }
  }
}

}  // namespace
}  // namespace filch::detail::deque
