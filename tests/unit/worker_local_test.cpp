// In which order the values of workers are combined.
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/worker_local.hpp>

namespace filch {
namespace {

TEST(worker_local, values_are_combined_in_the_order_of_indices) {
  scheduler pool({.workers = 1});
  worker_local<std::string> names(pool, [] { return std::to_string(this_worker().index); });
  // Each thread takes part while the next one does.
  const std::function<void(int)> take_part = [&](int threads) {
    if (threads == 0) return;
    pool.run([&] {
      names.local();
      std::thread(take_part, threads - 1).join();
    });
  };
  take_part(3);
  EXPECT_EQ(names.combine(std::plus<>()), "012");
}

// What make() forks may use the value, on the same worker, before make() returns.
TEST(worker_local, make_may_fork_what_uses_it) {
  scheduler pool({.workers = 1});
  worker_local<int>* itself = nullptr;
  bool is_made = false;
  worker_local<int> numbers(pool, [&] {
    if (!std::exchange(is_made, true)) fork_join([&] { itself->local() = 5; }, [] {});
    return 0;
  });
  itself = &numbers;
  pool.run([&] { ++numbers.local(); });
  EXPECT_EQ(numbers.combine(std::plus<>()), 6);
}

}  // namespace
}  // namespace filch
