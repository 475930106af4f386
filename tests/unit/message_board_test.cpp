#include "places/message_board.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "places/memory_network.hpp"

namespace filch::detail::places {
namespace {

/// Three places, each of which looks at its network when it is told to.
struct three_places {
  memory_hub hub{3};
  std::vector<std::unique_ptr<network>> networks;
  std::vector<std::unique_ptr<load_board>> boards;

  three_places() {
    for (int i = 0; i < 3; ++i) {
      networks.push_back(hub.connect(i));
      boards.push_back(make_message_board(*networks.back()));
    }
  }
  load_board& at(int place) { return *boards[static_cast<std::size_t>(place)]; }
  /// @return how many messages have come
  int look(int place) {
    message m;
    int n = 0;
    for (; networks[static_cast<std::size_t>(place)]->receive(m); ++n) EXPECT_TRUE(at(place).handle(m));
    return n;
  }
};

TEST(message_board, a_load_is_read_by_one_question) {
  three_places p;
  p.at(1).publish(7);
  EXPECT_EQ(p.at(0).read(1), std::nullopt);
  EXPECT_EQ(p.at(0).read(1), std::nullopt);  // asks once
  EXPECT_EQ(p.look(1), 1);
  EXPECT_EQ(p.look(0), 1);
  EXPECT_EQ(p.at(0).read(1), 7);
  EXPECT_EQ(p.at(1).read(1), 7);
}

TEST(message_board, an_answer_that_nobody_waits_for_is_no_answer_to_another_question) {
  three_places p;
  p.at(1).publish(7);
  p.at(2).publish(load_board::hunting);
  EXPECT_EQ(p.at(0).read(1), std::nullopt);
  EXPECT_EQ(p.at(0).read(2), std::nullopt);
  p.look(1);
  p.look(0);
  EXPECT_EQ(p.at(0).read(2), std::nullopt);
  p.look(2);
  p.look(0);
  EXPECT_EQ(p.at(0).read(2), load_board::hunting);
}

TEST(message_board, one_place_has_the_lock) {
  three_places p;
  EXPECT_EQ(p.at(0).try_lock(2), std::nullopt);
  EXPECT_EQ(p.at(1).try_lock(2), std::nullopt);
  EXPECT_EQ(p.look(2), 2);
  p.look(0);
  p.look(1);
  const std::optional<bool> first = p.at(0).try_lock(2);
  const std::optional<bool> second = p.at(1).try_lock(2);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  const int thief = *first ? 0 : 1;
  p.at(thief).set_thief(2);
  EXPECT_EQ(p.at(2).thief(), load_board::nobody);
  p.look(2);
  EXPECT_EQ(p.at(2).thief(), thief);
  p.at(2).clear_thief();
  EXPECT_EQ(p.at(2).thief(), load_board::nobody);
  p.at(thief).unlock(2);
  EXPECT_EQ(p.at(2).try_lock(2), false);
  p.look(2);
  EXPECT_EQ(p.at(2).try_lock(2), true);
}

/// Asks for the lock, and goes on to another place before or after the answer has come.
class forgotten_lock : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(message_board, forgotten_lock, testing::Bool());

TEST_P(forgotten_lock, is_given_back) {
  three_places p;
  EXPECT_EQ(p.at(0).try_lock(2), std::nullopt);
  p.look(2);
  if (GetParam()) p.look(0);
  EXPECT_EQ(p.at(0).read(1), std::nullopt);
  p.look(0);
  EXPECT_EQ(p.at(2).try_lock(2), false);
  p.look(2);
  EXPECT_EQ(p.at(2).try_lock(2), true);
}

}  // namespace
}  // namespace filch::detail::places
