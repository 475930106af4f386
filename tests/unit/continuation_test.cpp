// What becomes of continuations whose source has an error, and of many that depend on each other.
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

TEST(continuation, of_an_error_is_not_called_and_has_that_error) {
  scheduler pool({.workers = 2});
  bool called = false;
  promise<int> source;
  const auto [with_value, without] = pool.run([&] {
    return std::pair(source.get_future().then([&](int) { called = true; }),
                     source.get_future().then([&] { called = true; }));
  });
  source.put_error(std::make_exception_ptr(std::runtime_error("of the source")));
  EXPECT_THROW(with_value.get(), std::runtime_error);
  EXPECT_THROW(without.get(), std::runtime_error);
  EXPECT_FALSE(called);
}

// Each cell after all of the row before it. The way back from the last has 4 to the power of 20 paths.
TEST(continuation, of_rows_of_several_is_waited_for) {
  constexpr int rows = 20;
  for (const int workers : {1, 2, 4}) {
    scheduler pool({.workers = workers});
    const int found = pool.run([&] {
      promise<int> first;
      std::vector<future<int>> row(4, first.get_future());
      for (int i = 0; i != rows; ++i) {
        std::vector<future<int>> next;
        for (std::size_t cell = 0; cell != row.size(); ++cell) {
          next.push_back(when_all(row).then([](const std::vector<future<int>>& all) { return all[0].get() + 1; }));
        }
        row = next;
      }
      task_group group;
      // Older ones, so that it is not on offer until whoever searches says so.
      for (int i = 0; i != 8; ++i) group.run([] {});
      group.run([&] { first.put(0); });
      const int last = row[0].get();
      group.wait();
      return last;
    });
    EXPECT_EQ(found, rows);
  }
}

}  // namespace
}  // namespace filch
