#include "vm/machine/page_table.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "vm/machine/core_set.hpp"
#include "vm/machine/run_queue.hpp"

namespace filch::platform::vm {
namespace {

const void* address(std::uintptr_t number) { return reinterpret_cast<const void*>(number); }

TEST(page_table, finds_what_a_plain_map_finds) {
  page_table<int, 6> table;
  std::map<std::uintptr_t, int> expected;
  std::mt19937_64 random(1);
  for (int i = 1; i <= 20'000; ++i) {
    const std::uintptr_t at = 0x7f00'0000'0000 + (random() % 64) * (std::uintptr_t{1} << 26) + random() % 65536;
    EXPECT_EQ(table.at(address(at)), expected[at / 64]);
    expected[at / 64] = i;
    table.at(address(at)) = i;
    if (i % 1000 == 0) {
      const std::uintptr_t from = at & ~std::uintptr_t{63};
      table.forget(address(from), 4096);
      for (std::uintptr_t line = from; line < from + 4096; line += 64) expected.erase(line / 64);
    }
  }
}

TEST(page_table, forgets_large_ranges_whole) {
  page_table<int, 6> table;
  constexpr std::uintptr_t base = 0x7e12'3456'7000;
  for (std::uintptr_t i = 0; i < 64; ++i) table.at(address(base + (i << 20))) = 1;
  table.forget(address(base), std::size_t{32} << 20);
  for (std::uintptr_t i = 0; i < 64; ++i) EXPECT_EQ(table.at(address(base + (i << 20))), i < 32 ? 0 : 1) << i;
}

TEST(core_set, knows_who_is_in_which_range) {
  constexpr std::uint32_t cores = 1000;
  core_set set;
  EXPECT_TRUE(set.empty(cores));
  for (const std::uint32_t core : {3U, 63U, 64U, 700U, 999U}) set.insert(core, cores);
  EXPECT_TRUE(set.contains(64));
  EXPECT_FALSE(set.contains(65));
  EXPECT_TRUE(set.any_in(0, 4));
  EXPECT_FALSE(set.any_in(4, 63));
  EXPECT_TRUE(set.any_in(60, 64));
  EXPECT_FALSE(set.any_in(65, 700));
  EXPECT_TRUE(set.any_in(65, 701));
  EXPECT_FALSE(set.any_in(701, 999));
  set.clear(cores);
  EXPECT_TRUE(set.empty(cores));
}

TEST(run_queue, orders_by_clock_and_number) {
  struct nobody {};
  run_queue<nobody> queue;
  std::mt19937_64 random(2);
  for (std::uint32_t i = 0; i < 500; ++i) queue.push({static_cast<picoseconds>(random() % 50), i, nullptr});
  for (int i = 0; i < 300; ++i) {
    const auto& first = queue.first();
    const auto taken = queue.exchange({first.clock + static_cast<picoseconds>(random() % 50), first.number, nullptr});
    EXPECT_FALSE(queue.first().before(taken));
  }
  auto last = queue.pop();
  while (!queue.empty()) {
    const auto next = queue.pop();
    EXPECT_TRUE(last.before(next));
    last = next;
  }
}

}  // namespace
}  // namespace filch::platform::vm
