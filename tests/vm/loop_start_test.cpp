// A loop is shared by what its own iterations show, whatever the calls before it have shown. All times are virtual.
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "vm/machine/machine_file.hpp"

namespace filch {
namespace {

constexpr double ms = 1e6;
/// Eight iterations of 5 ms on two workers: one before anything is known, and then four. And some wake-ups.
constexpr double shared = 25.2 * ms;
constexpr int cheap_calls = 2000;
constexpr int rounds = 4;

double now_ns() { return vm::now_s() * 1e9; }

/// The longest of the dear calls, each of which comes after many cheap ones, on two workers.
double longest_dear_ns(const std::function<void(double iteration_ns)>& cheap,
                       const std::function<void(double iteration_ns)>& dear) {
  platform::vm::machine_description machine = platform::vm::load_machine("generic", MACHINES_FOLDER);
  vm::simulation world(machine, 1, 2);
  double longest = 0;
  world.run([&] {
    scheduler pool({.workers = 2, .interrupt_after_ns = 0});
    vm::charge(1 * ms);  // the other sleeps
    for (int round = 0; round < rounds; ++round) {
      pool.run([&] {
        for (int i = 0; i < cheap_calls; ++i) cheap(1);
        const double begin_ns = now_ns();
        dear(5 * ms);
        const double took = now_ns() - begin_ns;
        if (longest < took) longest = took;
      });
    }
  });
  return longest;
}

/// Iteration by iteration, always at the same place.
void loop_at_one_place(int n, double iteration_ns, splitting how = {}) {
  parallel_for(0, n, [=](int) { vm::charge(iteration_ns); }, how);
}

TEST(loop_start, of_long_iterations_after_cheap_calls_is_shared) {
  EXPECT_LE(longest_dear_ns([](double ns) { loop_at_one_place(10, ns); }, [](double ns) { loop_at_one_place(8, ns); }),
            shared);
}

TEST(loop_start, with_a_grain_is_shared) {
  const splitting how = loop::standard{.grain = 1};
  EXPECT_LE(longest_dear_ns([&](double ns) { loop_at_one_place(10, ns, how); },
                            [&](double ns) { loop_at_one_place(8, ns, how); }),
            shared);
}

TEST(loop_start, at_a_fresh_place_is_shared) {
  EXPECT_LE(longest_dear_ns([](double) {}, [](double ns) { parallel_for(0, 8, [=](int) { vm::charge(ns); }); }),
            shared);
}

int sum_at_one_place(int n, double iteration_ns) {
  return parallel_reduce(0, n, 0, [=](int i) {
    vm::charge(iteration_ns);
    return i;
  });
}

TEST(loop_start, of_a_reduction_is_shared) {
  EXPECT_LE(longest_dear_ns([](double ns) { sum_at_one_place(10, ns); }, [](double ns) { sum_at_one_place(8, ns); }),
            shared);
}

TEST(loop_start, over_a_range_is_shared) {
  const auto run = [](int n, double ns) {
    parallel_for(blocked_range<int>(0, n),
                 [=](const blocked_range<int>& part) { vm::charge(ns * static_cast<double>(part.size())); });
  };
  EXPECT_LE(longest_dear_ns([&](double ns) { run(10, ns); }, [&](double ns) { run(8, ns); }), shared);
}

TEST(loop_start, of_a_function_known_at_run_time_is_shared) {
  const auto run = [](int n, const std::function<void(int)>& body) { parallel_for(0, n, body); };
  EXPECT_LE(longest_dear_ns([&](double ns) { run(10, [=](int) { vm::charge(ns); }); },
                            [&](double ns) { run(8, [=](int) { vm::charge(ns); }); }),
            shared);
}

/// How long a loop takes whose serial time is that, if all others sleep when it begins: the mean of several calls at a
/// place that is known. Waking somebody takes 10 us of the waker's time, as on a virtual machine of today.
double from_a_sleeping_pool_ns(double serial_ns, const std::function<void(int n)>& run) {
  constexpr double iteration_ns = 10;
  constexpr int calls = 10;
  platform::vm::machine_description machine = platform::vm::load_machine("generic", MACHINES_FOLDER);
  machine.system.wake_call_ns = 10'000;
  vm::simulation world(machine, 1, 4);
  double sum_ns = 0;
  world.run([&] {
    scheduler pool({.workers = 4});
    pool.run([&] {
      const int n = static_cast<int>(serial_ns / iteration_ns);
      for (int i = 0; i < 100; ++i) run(n);
      for (int i = 0; i < calls; ++i) {
        vm::charge(1 * ms);  // the others fall asleep
        const double begin_ns = now_ns();
        run(n);
        sum_ns += now_ns() - begin_ns;
      }
    });
  });
  return sum_ns / calls;
}

TEST(loop_start, from_a_sleeping_pool_does_not_lose) {
  const auto loop = [](int n) { parallel_for(0, n, [](int) { vm::charge(10); }); };
  const auto reduction = [](int n) { sum_at_one_place(n, 10); };
  for (const double serial_ns : {500.0, 1'000.0, 2'000.0, 5'000.0, 10'000.0, 15'000.0, 19'000.0}) {
    EXPECT_LE(from_a_sleeping_pool_ns(serial_ns, loop), 1.1 * serial_ns + 500) << serial_ns;
    EXPECT_LE(from_a_sleeping_pool_ns(serial_ns, reduction), 1.1 * serial_ns + 500) << serial_ns;
  }
  for (const double serial_ns : {200e3, 500e3}) {
    EXPECT_LE(from_a_sleeping_pool_ns(serial_ns, loop), 0.8 * serial_ns) << serial_ns;
    EXPECT_LE(from_a_sleeping_pool_ns(serial_ns, reduction), 0.8 * serial_ns) << serial_ns;
  }
}

/// Forks of nothing, one below the other, and at the bottom a loop.
void loop_below_forks(int forks, int n, double iteration_ns) {
  if (forks == 0) return parallel_for(0, n, [=](int) { vm::charge(iteration_ns); });
  fork_join([=] { loop_below_forks(forks - 1, n, iteration_ns); }, [] {});
}

// The forks are older than the loop, and are offered before it; there are more of them than workers. One that waits for all of
// them to be taken, half of them for each iteration, takes 600 us.
TEST(loop_start, below_tasks_of_nothing_is_shared) {
  constexpr int workers = 8;
  constexpr int iterations = 64;
  constexpr double iteration_ns = 40'000;
  platform::vm::machine_description machine = platform::vm::load_machine("generic", MACHINES_FOLDER);
  vm::simulation world(machine, 1, workers);
  world.run([&] {
    scheduler pool({.workers = workers});
    const double begin_ns = now_ns();
    pool.run([&] { loop_below_forks(128, iterations, iteration_ns); });
    EXPECT_LE(now_ns() - begin_ns, 1.4 * iterations * iteration_ns / workers);
  });
}

// A worker that takes part of the loop first comes back when that is over, after 5 ms.
TEST(loop_start, leaves_a_worker_for_what_was_submitted_before) {
  platform::vm::machine_description machine = platform::vm::load_machine("generic", MACHINES_FOLDER);
  for (const combination& each : combinations()) {
    // The first runs it at once; the second deals a part of the loop to the sleeper before that is awake.
    if (each.policy == "serial" || each.policy == "sender") continue;
    vm::simulation world(machine, 1, 2);
    world.run([&] {
      scheduler pool({.workers = 2, .policy = std::string(each.policy)});
      vm::charge(1 * ms);  // the other sleeps
      const double since_ns = now_ns();
      const auto begun_ns = pool.submit([] { return now_ns(); });
      pool.run([] { parallel_for(0, 1000, [](int) { vm::charge(10'000); }); });
      EXPECT_LE(begun_ns.get() - since_ns, 100'000) << each.policy;
    });
  }
}

/// Look-ups, of which those in `cold` are dear.
class look_ups {
 public:
  explicit look_ups(int n) : cold_(static_cast<std::size_t>(n), false) {}
  void warm() { cold_.assign(cold_.size(), false); }
  void cool(int i) { cold_[static_cast<std::size_t>(i)] = true; }
  void run(double cold_ns) const {
    parallel_for(0, static_cast<int>(cold_.size()),
                 [&](int i) { vm::charge(cold_[static_cast<std::size_t>(i)] ? cold_ns : 1); });
  }

 private:
  std::vector<bool> cold_;
};

TEST(loop_start, of_which_some_iterations_are_long_is_shared) {
  for (const auto& [n, first, step] :
       {std::array{8, 0, 1}, std::array{9, 1, 1}, std::array{16, 8, 1}, std::array{1000, 60, 120}}) {
    SCOPED_TRACE(testing::Message() << n << " look-ups, from " << first << " every " << step << " is cold");
    look_ups all(n);
    EXPECT_LE(longest_dear_ns(
                  [&](double ns) {
                    all.warm();
                    all.run(ns);
                  },
                  [&](double ns) {
                    for (int i = 0; i < 8; ++i) all.cool(first + i * step);
                    all.run(ns);
                  }),
              shared);
  }
}

TEST(loop_start, grows_from_level_to_level) {
  // The levels of a search in breadth: 1, 2, 4, ... vertices.
  EXPECT_LE(longest_dear_ns(
                [](double ns) {
                  for (int n = 1; n < 64; n *= 2) loop_at_one_place(n, ns);
                },
                [](double ns) { loop_at_one_place(8, ns); }),
            shared);
}

/// Many iterations of a nanosecond, and among them so many of 1 ms, one after the other: how long that loop takes.
double with_cluster_ns(int workers, int cheap, int costly, int first_costly) {
  platform::vm::machine_description machine = platform::vm::load_machine("generic", MACHINES_FOLDER);
  vm::simulation world(machine, 1, static_cast<unsigned>(workers));
  double took = 0;
  world.run([&] {
    scheduler pool({.workers = workers, .interrupt_after_ns = 0});
    const auto loop = [&](int dear) {
      parallel_for(0, cheap + costly,
                   [=](int i) { vm::charge(i >= first_costly && i < first_costly + dear ? 1 * ms : 1); });
    };
    pool.run([&] { loop(0); });  // the place is known as a cheap one
    const double begin_ns = now_ns();
    pool.run([&] { loop(costly); });
    took = now_ns() - begin_ns;
  });
  return took;
}

TEST(loop_start, in_a_chunk_of_cheap_iterations_is_noticed) {
  constexpr int cheap = 50'000;
  constexpr int costly = 400;
  for (const int workers : {2, 4, 16}) {
    // Who hands out 64 iterations at a time (dynamic, 64) has the last 64 run by one worker: while others share the rest, at best.
    const double handed_out = (64 + static_cast<double>(costly) / workers) * ms;
    for (const int first_costly : {0, cheap / 2, cheap}) {
      EXPECT_LE(with_cluster_ns(workers, cheap, costly, first_costly), handed_out)
          << workers << " workers, from " << first_costly;
    }
  }
}

}  // namespace
}  // namespace filch
