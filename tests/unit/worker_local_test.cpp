// In which order the values of workers are combined.
#include <functional>
#include <string>
#include <thread>

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

}  // namespace
}  // namespace filch
