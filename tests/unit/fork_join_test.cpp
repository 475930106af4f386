#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <filch/fork_join.hpp>

#include "support.hpp"

namespace filch {
namespace {

TEST(fork_join, returns_both_results_in_order) {
  const auto [a, b] = fork_join([] { return 1; }, [] { return std::string("two"); });
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, "two");
}

TEST(fork_join, takes_more_than_two_and_flattens_the_tuple) {
  const auto result = fork_join([] { return 1; }, [] { return 2.5; }, [] {}, [] { return 'x'; }, [] { return 5L; });
  static_assert(std::is_same_v<decltype(result), const std::tuple<int, double, unit, char, long>>);
  EXPECT_EQ(result, std::make_tuple(1, 2.5, unit{}, 'x', 5L));
}

TEST(fork_join, void_becomes_unit) {
  static_assert(std::is_same_v<decltype(fork_join([] {}, [] {})), std::tuple<unit, unit>>);
  int runs = 0;
  scheduler one({.workers = 1});
  one.run([&] { fork_join([&] { ++runs; }, [&] { ++runs; }); });
  EXPECT_EQ(runs, 2);
}

TEST(fork_join, on_one_worker_is_two_calls_in_order) {
  scheduler one({.workers = 1});
  std::vector<int> order;
  one.run([&] {
    fork_join([&] { order.push_back(1); }, [&] { fork_join([&] { order.push_back(2); }, [&] { order.push_back(3); }); },
              [&] { order.push_back(4); });
  });
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST(fork_join, passes_references_and_move_only_results) {
  int x = 1;
  const auto [r, p] = fork_join([&]() -> int& { return x; }, [] { return std::make_unique<int>(7); });
  static_assert(std::is_same_v<std::tuple_element_t<0, decltype(fork_join([&]() -> int& { return x; }, [] {}))>, int&>);
  EXPECT_EQ(&r, &x);
  EXPECT_EQ(*p, 7);
  const auto reversed = fork_join([] { return std::make_unique<int>(8); }, [&]() -> int& { return x; });
  EXPECT_EQ(*std::get<0>(reversed), 8);
  EXPECT_EQ(&std::get<1>(reversed), &x);
  auto pointer = std::make_unique<int>(9);
  const auto moves = [&]() -> std::unique_ptr<int>&& { return std::move(pointer); };
  const std::unique_ptr<int> moved = std::get<1>(fork_join([] {}, moves));
  EXPECT_EQ(*moved, 9);
  EXPECT_EQ(pointer, nullptr);
}

/// Bytes that may be copied, but not moved.
struct only_copied {
  explicit only_copied(int is) : value(is) {}
  ~only_copied() = default;
  only_copied(const only_copied&) = default;
  only_copied(only_copied&&) = delete;
  only_copied& operator=(const only_copied&) = delete;
  only_copied& operator=(only_copied&&) = delete;
  int operator()() const { return value; }
  int value;
};
/// Neither.
struct stays : only_copied {
  using only_copied::only_copied;
  stays(const stays&) = delete;
};

TEST(fork_join, takes_callables_that_cannot_be_moved) {
  const auto body = [] {
    EXPECT_EQ(fork_join(only_copied(1), only_copied(2)), std::tuple(1, 2));
    EXPECT_EQ(fork_join(stays(1), stays(2)), std::tuple(1, 2));
    EXPECT_EQ(fork_join(stays(1), only_copied(2), stays(3)), std::tuple(1, 2, 3));
  };
  body();
  scheduler({.workers = 2}).run(body);
}

TEST(fork_join, takes_lvalues_function_pointers_and_move_only_callables) {
  auto lvalue = [] { return 1; };
  int (*pointer)() = [] { return 2; };
  const auto held = std::make_unique<int>(3);
  const auto [a, b] = fork_join(lvalue, pointer);
  EXPECT_EQ(a + b, 3);
  auto [c, d] = fork_join([p = std::make_unique<int>(4)] { return *p; }, [&held] { return *held; });
  EXPECT_EQ(c + d, 7);
}

/// Counts objects of itself that exist.
struct counted {
  static inline int alive = 0;
  counted() { ++alive; }
  counted(const counted& /*other*/) { ++alive; }
  counted(counted&& /*other*/) noexcept { ++alive; }
  counted& operator=(const counted&) = default;
  counted& operator=(counted&&) = default;
  ~counted() { --alive; }
};

TEST(fork_join, destroys_what_it_made_also_when_a_branch_throws) {
  scheduler one({.workers = 1});
  one.run([] { fork_join([] { return counted{}; }, [] { return counted{}; }); });
  EXPECT_EQ(counted::alive, 0);
  const auto second_throws = [] {
    fork_join([] { return counted{}; }, []() -> counted { throw std::runtime_error("g"); });
  };
  EXPECT_THROW(one.run(second_throws), std::runtime_error);
  EXPECT_EQ(counted::alive, 0);
}

TEST(fork_join, a_second_branch_that_has_not_begun_is_skipped_when_the_first_throws) {
  scheduler one({.workers = 1});
  bool ran = false;
  const auto both = [&] { fork_join([] { throw std::runtime_error("f"); }, [&] { ran = true; }); };
  EXPECT_THROW(one.run(both), std::runtime_error);
  EXPECT_FALSE(ran);
  // And the stack is in order afterwards.
  EXPECT_EQ(one.run([] { return std::get<1>(fork_join([] { return 1; }, [] { return 2; })); }), 2);
}

TEST(fork_join, of_several_exceptions_the_leftmost_is_thrown) {
  for (int i = 0; i < 100; ++i) {
    try {
      fork_join([] { throw 1; }, [] { throw 2; }, [] { throw 3; });
      FAIL() << "nothing was thrown";
    } catch (int thrown) {
      EXPECT_EQ(thrown, 1);
    }
    try {
      fork_join([] {}, [] { throw 2; }, [] { throw 3; });
      FAIL() << "nothing was thrown";
    } catch (int thrown) {
      EXPECT_EQ(thrown, 2);
    }
  }
}

TEST(fork_join, returns_on_the_thread_that_called) {
  scheduler s({.workers = 4});
  s.run([] {
    for (int i = 0; i < 1000; ++i) {
      const auto here = std::this_thread::get_id();
      fork_join([] {}, [] {});
      ASSERT_EQ(std::this_thread::get_id(), here);
    }
  });
}

long sum_to(long n) {
  if (n == 0) return 0;
  const auto [rest, mine] = fork_join([=] { return sum_to(n - 1); }, [=] { return n; });
  return rest + mine;
}

TEST(fork_join, a_full_stack_runs_tasks_at_once) {
  // Room for 63 tasks; the recursion wants a thousand.
  for (const char* policy : {"lace", "chase_lev"}) {
    scheduler s({.workers = 2, .policy = policy, .stack_bytes = 4096});
    for (int i = 0; i < 50; ++i) EXPECT_EQ(s.run([] { return sum_to(1000); }), 500'500);
  }
}

TEST(fork_join, an_exception_through_a_full_stack_leaves_it_in_order) {
  scheduler s({.workers = 1, .stack_bytes = 4096});
  struct thrower {
    static long at(long n) {
      if (n == 0) throw std::runtime_error("bottom");
      const auto [a, b] = fork_join([=] { return at(n - 1); }, [=] { return n; });
      return a + b;
    }
  };
  EXPECT_THROW(s.run([] { return thrower::at(500); }), std::runtime_error);
  EXPECT_EQ(s.run([] { return sum_to(500); }), 125'250);
}

}  // namespace
}  // namespace filch
