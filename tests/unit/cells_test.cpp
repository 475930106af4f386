#include <cstdint>

#include <gtest/gtest.h>

#include "deque/communication_cell.hpp"
#include "deque/request_cell.hpp"
#include "deque/slot_range.hpp"
#include "deque/transfer_cell.hpp"

namespace filch::detail::deque {
namespace {

constexpr std::uint16_t last_worker = 65535;
constexpr std::uint64_t last_id = (std::uint64_t{1} << 43) - 1;
constexpr std::uint32_t last_index = (std::uint32_t{1} << 20) - 1;

TEST(request_cell, is_closed_at_first_and_refuses_requests) {
  request_cell cell;
  EXPECT_EQ(cell.look(), request_cell::state::closed);
  EXPECT_FALSE(cell.is_open());
  EXPECT_FALSE(cell.put({.thief = 1, .id = 0}));
  EXPECT_FALSE(cell.claim());
  EXPECT_TRUE(cell.close());
}

TEST(request_cell, takes_one_request_which_its_owner_claims) {
  request_cell cell;
  for (const std::uint16_t thief : {std::uint16_t{0}, std::uint16_t{1}, last_worker}) {
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1}, last_id}) {
      cell.open();
      EXPECT_TRUE(cell.is_open());
      EXPECT_TRUE(cell.put({.thief = thief, .id = id}));
      EXPECT_EQ(cell.look(), request_cell::state::asked);
      EXPECT_FALSE(cell.is_open());
      EXPECT_FALSE(cell.put({.thief = 2, .id = 3}));
      EXPECT_FALSE(cell.close());
      const auto asked = cell.claim();
      ASSERT_TRUE(asked);
      EXPECT_EQ(asked->thief, thief);
      EXPECT_EQ(asked->id, id);
      EXPECT_EQ(cell.look(), request_cell::state::closed);
      EXPECT_FALSE(cell.withdraw({.thief = thief, .id = id}));
    }
  }
}

TEST(request_cell, a_request_can_be_withdrawn_by_its_thief_alone) {
  request_cell cell;
  cell.open();
  ASSERT_TRUE(cell.put({.thief = 5, .id = 7}));
  EXPECT_FALSE(cell.withdraw({.thief = 4, .id = 7}));
  EXPECT_TRUE(cell.withdraw({.thief = 5, .id = 7}));
  EXPECT_EQ(cell.look(), request_cell::state::closed);
  EXPECT_FALSE(cell.claim());
}

TEST(request_cell, closing_an_open_one_refuses_requests) {
  request_cell cell;
  cell.open();
  EXPECT_TRUE(cell.close());
  EXPECT_FALSE(cell.put({.thief = 1, .id = 0}));
}

TEST(transfer_cell, brings_what_was_handed_over) {
  transfer_cell cell;
  cell.expect(17);
  EXPECT_EQ(cell.room(), 17U);
  EXPECT_EQ(cell.read().what, transfer_cell::outcome::awaited);
  cell.hand_over({.first = last_index, .count = last_index});
  EXPECT_EQ(cell.read().what, transfer_cell::outcome::handed_over);
  EXPECT_EQ(cell.read().tasks.first, last_index);
  EXPECT_EQ(cell.read().tasks.count, last_index);
  cell.expect(0);
  EXPECT_EQ(cell.read().what, transfer_cell::outcome::awaited);
  cell.hand_over({});
  EXPECT_EQ(cell.read().what, transfer_cell::outcome::handed_over);
  EXPECT_EQ(cell.read().tasks.count, 0U);
  cell.expect(0);
  cell.decline();
  EXPECT_EQ(cell.read().what, transfer_cell::outcome::declined);
}

TEST(communication_cell, a_busy_worker_is_dealt_nothing) {
  communication_cell cell;
  EXPECT_TRUE(cell.is_busy());
  EXPECT_FALSE(cell.look());
  cell.wait({}, 0);
  const auto seen = cell.look();
  ASSERT_TRUE(seen);
  EXPECT_TRUE(cell.cease());
  EXPECT_TRUE(cell.is_busy());
  EXPECT_FALSE(cell.look());
  EXPECT_FALSE(cell.put(*seen, {}));
  EXPECT_FALSE(cell.reserve(*seen));
}

TEST(communication_cell, says_what_is_waited_for) {
  communication_cell cell;
  for (const std::uint16_t of : {std::uint16_t{0}, std::uint16_t{9}, last_worker}) {
    for (const std::uint64_t id : {std::uint64_t{1}, last_id}) {
      cell.wait({.of = of, .id = id}, 0);
      const auto seen = cell.look();
      ASSERT_TRUE(seen);
      EXPECT_EQ(seen->wanted.of, of);
      EXPECT_EQ(seen->wanted.id, id);
      ASSERT_TRUE(cell.cease());
    }
  }
}

TEST(communication_cell, one_dealer_deals_in_one_step) {
  communication_cell cell;
  cell.wait({}, 0);
  const auto seen = cell.look();
  ASSERT_TRUE(seen);
  EXPECT_TRUE(cell.put(*seen, {.dealer = last_worker, .tasks = {.first = last_index, .count = 1}}));
  EXPECT_FALSE(cell.put(*seen, {.dealer = 1, .tasks = {.first = 0, .count = 1}}));
  EXPECT_FALSE(cell.look());
  EXPECT_FALSE(cell.cease());
  const auto got = cell.collect();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->dealer, last_worker);
  EXPECT_EQ(got->tasks.first, last_index);
  EXPECT_EQ(got->tasks.count, 1U);
  EXPECT_TRUE(cell.is_busy());
}

TEST(communication_cell, a_dealer_takes_back_what_is_not_collected) {
  communication_cell cell;
  const deal what{.dealer = 4, .tasks = {.first = 7, .count = 2}};
  for (const bool collected : {false, true}) {
    EXPECT_FALSE(cell.uncollected());
    cell.wait({}, 0);
    ASSERT_TRUE(cell.put(*cell.look(), what));
    ASSERT_TRUE(cell.uncollected());
    EXPECT_EQ(cell.uncollected()->dealer, 4);
    EXPECT_EQ(cell.uncollected()->tasks.first, 7U);
    EXPECT_FALSE(cell.take_back({.dealer = 5, .tasks = what.tasks}));
    EXPECT_EQ(collected && cell.collect().has_value(), collected);
    EXPECT_EQ(cell.take_back(what), !collected);
    EXPECT_TRUE(cell.is_busy());
    EXPECT_FALSE(cell.collect());
  }
}

TEST(communication_cell, one_dealer_deals_in_two_steps_or_gives_up) {
  communication_cell cell;
  cell.wait({.of = 3, .id = 4}, 11);
  const auto seen = cell.look();
  ASSERT_TRUE(seen);
  EXPECT_TRUE(cell.reserve(*seen));
  EXPECT_EQ(cell.room(), 11U);
  EXPECT_FALSE(cell.look());
  EXPECT_FALSE(cell.cease());
  EXPECT_FALSE(cell.collect());
  cell.give_up(*seen);
  EXPECT_TRUE(cell.is_waiting());
  ASSERT_TRUE(cell.reserve(*seen));
  cell.fill({.dealer = 3, .tasks = {.first = 5, .count = 6}});
  EXPECT_FALSE(cell.is_waiting());
  const auto got = cell.collect();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->tasks.first, 5U);
  EXPECT_EQ(got->tasks.count, 6U);
}

}  // namespace
}  // namespace filch::detail::deque
