#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/parallel_invoke.hpp>

#include "everywhere.hpp"

namespace filch {
namespace {

TEST(parallel_invoke, runs_each_once_and_returns_nothing) {
  for (const auto& pool : tests::all_schedulers()) {
    std::array<std::atomic<int>, 5> runs{};
    pool->run([&] {
      static_assert(std::is_void_v<decltype(parallel_invoke([] {}, [] { return 1; }))>);
      parallel_invoke([&] { ++runs[0]; }, [&] { return ++runs[1]; });
      parallel_invoke([&] { ++runs[2]; }, [&] { return std::string("forgotten").size() + ++runs[3]; },
                      [&] { ++runs[4]; });
    });
    for (const auto& n : runs) EXPECT_EQ(n, 1);
  }
}

TEST(parallel_invoke, of_nothing_returns) { parallel_invoke(); }

TEST(parallel_invoke, on_one_worker_is_calls_in_order) {
  scheduler one({.workers = 1});
  std::vector<int> order;
  one.run([&] {
    parallel_invoke([&] { order.push_back(1); }, [&] { order.push_back(2); }, [&] { order.push_back(3); },
                    [&] { order.push_back(4); });
  });
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST(parallel_invoke, takes_lvalues_move_only_callables_function_pointers_and_immovable_results) {
  static std::atomic<int> sum = 0;
  auto lvalue = [] { sum += 1; };
  const auto constant = [] { sum += 10; };
  void (*pointer)() = [] { sum += 100; };
  struct takes_itself_as_rvalue {
    std::unique_ptr<int> number;
    void operator()() && { sum += *std::exchange(number, nullptr); }
  };
  parallel_invoke(lvalue, constant, pointer, takes_itself_as_rvalue{std::make_unique<int>(1000)},
                  [] { return std::mutex(); });
  EXPECT_EQ(sum, 1111);
}

TEST(parallel_invoke, of_several_exceptions_the_leftmost_is_thrown) {
  for (const auto& pool : tests::all_schedulers()) {
    for (int first = 0; first != 4; ++first) {
      const auto at = [first](int i) {
        return [=] {
          if (i >= first) throw i;
        };
      };
      try {
        pool->run([&] { parallel_invoke(at(0), at(1), at(2), at(3)); });
        FAIL() << "nothing was thrown";
      } catch (int thrown) {
        EXPECT_EQ(thrown, first);
      }
    }
  }
}

TEST(parallel_invoke, runs_outside_of_a_scheduler_and_nested) {
  std::atomic<int> runs = 0;
  const auto count = [&] { ++runs; };
  parallel_invoke([&] { parallel_invoke(count, count, count); }, [&] { parallel_invoke(count, count); });
  EXPECT_EQ(runs, 5);
  parallel_invoke(count);
  EXPECT_EQ(runs, 6);
}

}  // namespace
}  // namespace filch
