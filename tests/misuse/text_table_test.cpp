#include "text_table.hpp"

#include <gtest/gtest.h>

namespace filch::cli {
namespace {

TEST(text_table, aligns_columns_and_leaves_no_blanks_at_line_ends) {
  text_table table({{"name", text_table::align::left}, {"n", text_table::align::right}, {"note"}});
  table.add_row({"a", "10", ""});
  table.add_row({"longer", "9", "x"});
  EXPECT_EQ(table.to_string(),
            "name     n  note\n"
            "a       10\n"
            "longer   9  x\n");
}

TEST(format_seconds, chooses_the_unit) {
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(1.234), "1.23 s");
  EXPECT_EQ(format_seconds(0.789), "789 ms");
  EXPECT_EQ(format_seconds(4.5e-6), "4.50 us");
  EXPECT_EQ(format_seconds(3e-9), "3.00 ns");
  EXPECT_EQ(format_seconds(0), "0.00 ns");
}

}  // namespace
}  // namespace filch::cli
