#include "option_value.hpp"

#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

namespace filch::cli {
namespace {

TEST(parse_list, keeps_the_order) {
  EXPECT_EQ(parse_list("--policy", "lace,chase_lev"), (std::vector<std::string>{"lace", "chase_lev"}));
}

TEST(parse_list, refuses_empty_elements) {
  for (const char* const text : {"", ",", "1,", ",1", "1,,2"}) {
    EXPECT_THROW(parse_list("--workers", text), std::invalid_argument) << text;
  }
}

TEST(parse_list, refuses_repeated_elements) { EXPECT_THROW(parse_list("--workers", "1,2,1"), std::invalid_argument); }

TEST(parse_integer, accepts_both_ends_of_the_range) {
  EXPECT_EQ(parse_integer("--workers", "1", 1, 1024), 1);
  EXPECT_EQ(parse_integer("--workers", "1024", 1, 1024), 1024);
}

TEST(parse_integer, refuses_everything_else) {
  for (const char* const text : {"", "0", "-1", "1025", "99999999999999999999", "two", "2x", " 2", "+2", "1.5"}) {
    EXPECT_THROW(parse_integer("--workers", text, 1, 1024), std::invalid_argument) << text;
  }
}

TEST(require_known, names_the_value_and_the_nearest_known_one) {
  constexpr std::array<std::string_view, 2> known{"lace", "chase_lev"};
  EXPECT_NO_THROW(require_known("policy", "lace", known, ""));
  try {
    require_known("policy", "lacy", known, "policies are lace, chase_lev");
    FAIL() << "accepted an unknown name";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "unknown policy 'lacy'; did you mean 'lace'? policies are lace, chase_lev");
  }
}

}  // namespace
}  // namespace filch::cli
