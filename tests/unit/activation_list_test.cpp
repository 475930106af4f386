#include "worker/activation_list.hpp"

#include <gtest/gtest.h>

namespace filch::detail {
namespace {

TEST(activation_list, finds_what_is_active_with_its_base) {
  activation_list list(8);
  list.begin(3, 10);
  list.begin(7, 20);
  list.begin(8, 20);
  EXPECT_EQ(list.find(3), 10U);
  EXPECT_EQ(list.find(7), 20U);
  EXPECT_EQ(list.find(8), 20U);
  EXPECT_FALSE(list.find(5));
  EXPECT_FALSE(list.find(9));
  list.end();
  EXPECT_FALSE(list.find(8));
  EXPECT_EQ(list.find(7), 20U);
}

TEST(activation_list, an_ended_activation_stays_ended_when_its_place_is_used_again) {
  activation_list list(2);
  list.begin(1, 0);
  list.end();
  EXPECT_FALSE(list.find(1));
  list.begin(2, 5);
  EXPECT_FALSE(list.find(1));
  EXPECT_EQ(list.find(2), 5U);
}

TEST(activation_list, knows_when_it_is_full) {
  activation_list list(2);
  EXPECT_TRUE(list.has_room());
  list.begin(1, 0);
  list.begin(2, 0);
  EXPECT_FALSE(list.has_room());
  list.end();
  EXPECT_TRUE(list.has_room());
}

TEST(activation_list, holds_the_largest_number_and_base) {
  activation_list list(1);
  const std::uint64_t id = id_mask;
  list.begin(id, (1U << 20) - 1);
  EXPECT_EQ(list.find(id), (1U << 20) - 1);
}

TEST(activation_list, finds_numbers_that_have_begun_again) {
  activation_list list(4);
  std::uint64_t newest = id_mask - 2;
  std::vector<std::uint64_t> ids;
  for (std::uint32_t base = 0; base != 4; ++base) {
    newest = number_after(newest);
    ids.push_back(newest);
    list.begin(newest, base);
  }
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{id_mask - 1, id_mask, 1, 2}));
  for (std::uint32_t base = 0; base != 4; ++base) EXPECT_EQ(list.find(ids[base]), base);
  EXPECT_TRUE(began_after(ids[2], ids[1]));
  EXPECT_FALSE(began_after(ids[1], ids[2]));
}

TEST(task_state, survives_packing) {
  const task_state state{.status = task_status::batched, .waiting = true, .thief = 65535, .id = id_mask};
  const auto copy = task_state::unpack(state.pack());
  EXPECT_EQ(copy.status, state.status);
  EXPECT_EQ(copy.waiting, state.waiting);
  EXPECT_EQ(copy.thief, state.thief);
  EXPECT_EQ(copy.id, state.id);
  EXPECT_EQ(task_state{}.pack(), 0U);  // fresh pages hold pending tasks
}

}  // namespace
}  // namespace filch::detail
