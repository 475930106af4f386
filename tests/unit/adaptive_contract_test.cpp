// What builds that check contracts say about a split that loses or makes work. Compiled with FILCH_CHECKS=1.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

static_assert(detail::checks);

/// Has `left` units; a split keeps and gives as many as it is told.
struct odd_task {
  std::size_t left;
  std::size_t keeps;
  std::size_t gives;

  bool step(std::size_t budget) {
    left -= std::min(budget, left);
    return left != 0;
  }
  std::optional<odd_task> split() {
    if (left < 10) return std::nullopt;
    left = keeps;
    if (gives == 0) return std::nullopt;
    return odd_task{gives, 0, 0};
  }
  [[nodiscard]] std::size_t size() const { return left; }
};

/// With `chase_lev` the task is split after its first step.
std::string error_of(odd_task task) {
  ++task.left;
  scheduler pool({.workers = 1, .policy = "chase_lev"});
  try {
    pool.run([&] { adaptive(task, {.budget = 1}); });
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(adaptive_contract, halves_that_add_up_are_fine) {
  EXPECT_EQ(error_of({10, 5, 5}), "no error");
  EXPECT_EQ(error_of({10, 1, 9}), "no error");
  EXPECT_EQ(error_of({10, 0, 10}), "no error");
  EXPECT_EQ(error_of({10, 10, 0}), "no error");
}

TEST(adaptive_contract, a_split_must_not_give_more_than_there_was) {
  EXPECT_EQ(error_of({10, 5, 11}),
            "filch: split() of a task of '10' units kept '5' and gave '11'; let the two add up to what the task had");
}

TEST(adaptive_contract, a_split_must_not_make_or_lose_units) {
  EXPECT_EQ(error_of({10, 6, 5}),
            "filch: split() of a task of '10' units kept '6' and gave '5'; let the two add up to what the task had");
  EXPECT_EQ(error_of({10, 4, 5}),
            "filch: split() of a task of '10' units kept '4' and gave '5'; let the two add up to what the task had");
  EXPECT_EQ(error_of({10, 4, 0}),
            "filch: split() of a task of '10' units kept '4' and gave '0'; let the two add up to what the task had");
}

}  // namespace
}  // namespace filch
