// How pipelines use many virtual cores. All times are virtual, so that the bars hold on every computer.
#include <algorithm>
#include <cstddef>
#include <optional>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm/simulation.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

void work_for(double seconds) { platform::charge(seconds * 1e9); }

/// A source of the numbers below `items`, each of which takes so long.
auto numbers(int items, double source_s) {
  return [items, source_s, next = 0]() mutable -> std::optional<int> {
    if (next == items) return std::nullopt;
    work_for(source_s);
    return next++;
  };
}

auto stage(double seconds) {
  return [seconds](int item) {
    work_for(seconds);
    return item;
  };
}

// The source and the last stage, which take one item at a time, are short beside the one between them, so that all workers
// can compute. (If each item in the last stage waited for a thief, it would be 0.56 of the best time.)
TEST(pipeline, workers_are_busy_beside_short_serial_stages) {
  constexpr int workers = 16;
  constexpr int items = 2'000;
  constexpr double serial_s = 0.2e-6;
  constexpr double parallel_s = 10e-6;
  double seconds = 0;
  run_on(workers, "standard", [&](scheduler&) {
    for (int round = 0; round < 2; ++round) {  // in the first one they wake up
      const double begin_s = now_s();
      pipeline(std::size_t{4 * workers}, numbers(items, serial_s), parallel(stage(parallel_s)),
               serial_in_order(stage(serial_s)));
      seconds = now_s() - begin_s;
    }
  });
  const double best_s = items * (2 * serial_s + parallel_s) / workers;
  EXPECT_GT(best_s / seconds, 0.8);
}

// Three stages for two workers, again and again. One that gets a long row of items must not keep the other one waiting: in one
// of these runs it then would do everything.
TEST(pipeline, serial_stages_overlap_in_every_run) {
  constexpr int items = 600;
  for (const double stage_s : {0.7e-6, 0.9e-6, 1e-6, 2e-6}) {
    double slowest_s = 0;
    run_on(2, "standard", [&](scheduler&) {
      for (int round = 0; round < 12; ++round) {
        const double begin_s = now_s();
        pipeline(8, numbers(items, 0), serial_in_order(stage(stage_s)), serial_in_order(stage(stage_s)),
                 serial_in_order(stage(stage_s)));
        slowest_s = std::max(slowest_s, now_s() - begin_s);
      }
    });
    const double best_s = items * 3 * stage_s / 2;
    EXPECT_GT(best_s / slowest_s, 0.8) << stage_s * 1e6 << " us";
  }
}

}  // namespace
}  // namespace filch::vm
