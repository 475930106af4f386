#include "suggestion.hpp"

#include <array>

#include <gtest/gtest.h>

namespace filch::cli {
namespace {

constexpr std::array<std::string_view, 4> known{"fib", "nqueens", "uts", "matmul"};

TEST(nearest_name, finds_a_name_with_a_letter_missing) { EXPECT_EQ(nearest_name("nqeens", known), "nqueens"); }

TEST(nearest_name, finds_a_name_with_two_letters_swapped) { EXPECT_EQ(nearest_name("fbi", known), "fib"); }

TEST(nearest_name, finds_nothing_for_a_different_word) { EXPECT_EQ(nearest_name("quicksort", known), ""); }

TEST(nearest_name, finds_nothing_for_no_letters) { EXPECT_EQ(nearest_name("", known), ""); }

}  // namespace
}  // namespace filch::cli
