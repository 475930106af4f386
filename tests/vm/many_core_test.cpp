// The many-core machine charges what its machine file says. All times are virtual: nothing here depends on how fast the
// tests run.
#include "vm/machine/many_core.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/memory.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "platform/clock.hpp"
#include "platform/parker.hpp"
#include "platform/thread.hpp"

namespace filch::platform::vm {
namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

constexpr double tiny_ns = 0.01;  // times are whole picoseconds

/// Two sockets of four cores, with costs that no sum of others equals by chance.
machine_description small_machine() {
  machine_description m{};
  m.name = "small";
  m.sockets = 2;
  m.cores_per_socket = 4;
  m.threads_per_core = 1;
  m.core_throughput = 1;
  m.clock_ghz = 1000;  // so that the instructions of a spin hardly count
  m.lines = {.hit_ns = 1,
             .load_owned = {50, 130},
             .load_shared = {30, 110},
             .store_owned = {60, 140},
             .store_shared = {70, 170},
             .atomic_extra_ns = 7};
  m.memory = {90, 150};
  m.data = {.private_bytes = 16384,
            .shared_bytes = 262144,
            .shared_cache = shared_cache_kind::inclusive,
            .numa = numa_policy::first_touch,
            .private_line_ns = 1,
            .shared_line_ns = 4,
            .local_memory_line_ns = 9,
            .remote_memory_line_ns = 16,
            .memory_interval_ns = 2};
  m.system = {.pause_ns = 10,
              .park_ns = 500,
              .wake_call_ns = 1000,
              .wake_latency_ns = 3000,
              .signal_call_ns = 700,
              .signal_latency_ns = 900};
  m.runtime = {.spawn_ns = 2};
  m.work = {{"fib_call", 5}, {"nqueens_check", 10}, {"uts_node", 100}};
  return m;
}

/// Objects that share no line with each other.
struct alignas(64) word_of_its_own {
  atomic<std::uint64_t> value{0};
};

class many_core_test : public testing::Test {
 protected:
  static constexpr int threads = 8;
  machine_description machine_ = small_machine();

  /// Runs the bodies at the same time, body i on core i, and the first as the program.
  void run(std::vector<std::function<void()>> bodies) {
    many_core world(machine_, 1, threads);
    world.run([&] {
      std::vector<fiber*> others;
      for (std::size_t i = 1; i < bodies.size(); ++i) others.push_back(world.start(bodies[i]));
      bodies.front()();
      for (fiber* const each : others) world.join(*each);
    });
  }

  static double cost_ns(const std::function<void()>& operation) {
    const double begin_s = filch::vm::now_s();
    operation();
    return (filch::vm::now_s() - begin_s) * 1e9;
  }

  /// Lets the others go first.
  static void at_ns(double time_ns) { charge(time_ns - filch::vm::now_s() * 1e9); }
};

TEST_F(many_core_test, a_held_line_costs_a_hit) {
  word_of_its_own word;
  run({[&] {
    word.value.store(1, memory_order_relaxed);  // the first to ask has it at once
    EXPECT_NEAR(cost_ns([&] { static_cast<void>(word.value.load(memory_order_acquire)); }), 1, tiny_ns);
    EXPECT_NEAR(cost_ns([&] { static_cast<void>(word.value.load(memory_order_relaxed)); }), 0, tiny_ns);
    EXPECT_NEAR(cost_ns([&] { word.value.store(2, memory_order_release); }), 1, tiny_ns);
    EXPECT_NEAR(cost_ns([&] { word.value.store(3, memory_order_seq_cst); }), 8, tiny_ns);
    EXPECT_NEAR(cost_ns([&] { word.value.fetch_add(1, memory_order_relaxed); }), 8, tiny_ns);
  }});
}

TEST_F(many_core_test, a_load_costs_by_distance_and_state) {
  word_of_its_own word;
  std::array<double, 8> cost{};
  const auto load_at = [&](std::size_t core, double time_ns) {
    return [&, core, time_ns] {
      at_ns(time_ns);
      cost[core] = cost_ns([&] { static_cast<void>(word.value.load(memory_order_acquire)); });
    };
  };
  const auto nothing = [] {};
  run({[&] { word.value.store(1, memory_order_relaxed); }, load_at(1, 1000), load_at(2, 2000), nothing,
       load_at(4, 3000), load_at(5, 4000)});
  EXPECT_NEAR(cost[1], 50, tiny_ns);   // owned in the same socket
  EXPECT_NEAR(cost[2], 30, tiny_ns);   // by now shared, in the same socket
  EXPECT_NEAR(cost[4], 110, tiny_ns);  // shared, in the other socket
  EXPECT_NEAR(cost[5], 30, tiny_ns);   // there is a copy nearby now
}

TEST_F(many_core_test, a_line_owned_by_the_other_socket_is_far) {
  word_of_its_own word;
  double load = 0;
  double store = 0;
  const auto nothing = [] {};
  run({[&] { word.value.store(1, memory_order_relaxed); }, nothing, nothing, nothing,
       [&] {
         at_ns(1000);
         load = cost_ns([&] { static_cast<void>(word.value.load(memory_order_acquire)); });
       },
       [&] {
         at_ns(2000);
         store = cost_ns([&] { word.value.store(2, memory_order_seq_cst); });
       }});
  EXPECT_NEAR(load, 130, tiny_ns);
  EXPECT_NEAR(store, 170 + 7, tiny_ns);  // a holder in the other socket has to drop its copy
}

TEST_F(many_core_test, a_buffered_store_is_paid_by_the_next_fence) {
  word_of_its_own word;
  word_of_its_own own;
  run({[&] {
         word.value.store(1, memory_order_relaxed);
         own.value.store(1, memory_order_relaxed);
         at_ns(2000);
         EXPECT_NEAR(cost_ns([&] { word.value.store(2, memory_order_release); }), 1, tiny_ns);
         EXPECT_NEAR(cost_ns([&] { own.value.store(2, memory_order_seq_cst); }), 70 - 1 + 8, tiny_ns);
       },
       [&] {
         at_ns(1000);
         static_cast<void>(word.value.load(memory_order_acquire));
       }});
}

TEST_F(many_core_test, a_contended_counter_serialises) {
  word_of_its_own counter;
  constexpr int increments = 50;
  std::vector<std::function<void()>> bodies(4, [&] {
    for (int i = 0; i < increments; ++i) counter.value.fetch_add(1, memory_order_seq_cst);
  });
  double end_ns = 0;
  bodies.emplace_back([&] {
    at_ns(1e6);  // long after
    EXPECT_EQ(counter.value.load(memory_order_acquire), 4U * increments);
  });
  many_core world(machine_, 1, threads);
  world.run([&] {
    std::vector<fiber*> all;
    for (const auto& body : bodies) all.push_back(world.start(body));
    for (std::size_t i = 0; i < 4; ++i) world.join(*all[i]);
    end_ns = filch::vm::now_s() * 1e9;
    world.join(*all[4]);
  });
  // All but the first come from another core, 60 ns away at least, and one after the other.
  EXPECT_GE(end_ns, (4 * increments - 1) * (60 + 7));
}

TEST_F(many_core_test, own_counters_do_not_serialise) {
  std::array<word_of_its_own, 8> counters;
  std::vector<std::function<void()>> bodies;
  std::array<double, 8> end{};
  for (std::size_t core = 0; core < 8; ++core) {
    bodies.emplace_back([&, core] {
      for (int i = 0; i < 50; ++i) counters[core].value.fetch_add(1, memory_order_seq_cst);
      end[core] = filch::vm::now_s() * 1e9;
    });
  }
  counters[0].value.store(0, memory_order_relaxed);
  run(bodies);
  EXPECT_THAT(end, testing::Each(testing::Le(50 * 8.0 + tiny_ns)));
}

TEST_F(many_core_test, operations_on_a_line_in_dispute_are_in_the_order_of_time) {
  word_of_its_own word;
  run({[&] {
         at_ns(5000);  // starts first, is late
         EXPECT_EQ(word.value.exchange(1, memory_order_seq_cst), 2U);
       },
       [&] {
         at_ns(1000);
         EXPECT_EQ(word.value.exchange(2, memory_order_seq_cst), 0U);
       }});
}

TEST_F(many_core_test, waking_takes_a_call_and_a_latency) {
  parker sleeping;
  double awake_ns = 0;
  double call_ns = 0;
  run({[&] {
         at_ns(10'000);
         call_ns = cost_ns([&] { sleeping.unpark(); });
       },
       [&] {
         sleeping.park();
         awake_ns = filch::vm::now_s() * 1e9;
       }});
  EXPECT_NEAR(call_ns, 1000 + 60 + 7, tiny_ns);  // and the parker's line
  EXPECT_NEAR(awake_ns, 10'000 + call_ns + 3000, tiny_ns);
}

TEST_F(many_core_test, a_token_saves_the_sleep) {
  parker sleeping;
  run({[&] {
    sleeping.unpark();
    EXPECT_LT(cost_ns([&] { sleeping.park(); }), 100);
  }});
}

TEST_F(many_core_test, a_mutex_is_held_by_one_at_a_time) {
  mutex guard;
  int inside = 0;
  std::vector<std::function<void()>> bodies(6, [&] {
    for (int i = 0; i < 20; ++i) {
      guard.lock();
      EXPECT_EQ(++inside, 1);
      charge(500);
      static_cast<void>(now_ns());
      --inside;
      guard.unlock();
    }
  });
  double end_ns = 0;
  bodies.front() = [&, first = bodies.front()] { first(); };
  many_core world(machine_, 1, threads);
  world.run([&] {
    std::vector<fiber*> all;
    for (const auto& body : bodies) all.push_back(world.start(body));
    for (fiber* const each : all) world.join(*each);
    end_ns = filch::vm::now_s() * 1e9;
  });
  EXPECT_GE(end_ns, 6 * 20 * 500);
}

TEST_F(many_core_test, deadlock_is_an_error) {
  EXPECT_THROW(run({[] {
                 parker never;
                 never.park();
               }}),
               std::runtime_error);
}

TEST_F(many_core_test, what_the_program_throws_comes_out) {
  EXPECT_THROW(run({[] { throw std::out_of_range("x"); }}), std::out_of_range);
}

TEST_F(many_core_test, work_takes_the_time_it_is_charged) {
  run({[] {
    EXPECT_NEAR(cost_ns([] { charge(123.456); }), 123.456, tiny_ns);
    work node("uts_node");
    node.look_up();
    EXPECT_NEAR(cost_ns([&] { node.done(3); }), 300, tiny_ns);
    EXPECT_DOUBLE_EQ(price("spawn"), 2);
    EXPECT_THROW(static_cast<void>(price("no_such_work")), std::invalid_argument);
  }});
}

TEST_F(many_core_test, hardware_threads_share_their_core) {
  machine_.sockets = 1;
  machine_.cores_per_socket = 1;
  machine_.threads_per_core = 2;
  machine_.core_throughput = 1.25;
  run({[] { EXPECT_NEAR(cost_ns([] { charge(100); }), 160, tiny_ns); }, [] { charge(1000); }});
}

class touching : public many_core_test {
 protected:
  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{1} << 20);
  const std::byte* first_ = data_.data() + (256 - reinterpret_cast<std::uintptr_t>(data_.data()) % 256);

  double touch_ns(std::size_t bytes, bool writes = false) const {
    return cost_ns([&] { touch(first_, bytes, writes); });
  }
};

TEST_F(touching, the_second_time_hits_the_private_cache) {
  run({[&] {
    EXPECT_NEAR(touch_ns(4096), 64 * 9, tiny_ns);  // local memory
    EXPECT_NEAR(touch_ns(4096), 64 * 1, tiny_ns);
  }});
}

TEST_F(touching, what_does_not_fit_comes_from_the_shared_cache) {
  run({[&] {
    EXPECT_NEAR(touch_ns(65536), 1024 * 9, tiny_ns);
    EXPECT_NEAR(touch_ns(65536), 1024 * 4, tiny_ns);  // four times the private cache
  }});
}

TEST_F(touching, what_fits_nowhere_comes_from_memory) {
  run({[&] {
    EXPECT_NEAR(touch_ns(524288), 8192 * 9, tiny_ns);
    EXPECT_NEAR(touch_ns(524288), 8192 * 9, tiny_ns);
  }});
}

TEST_F(touching, a_write_invalidates_other_copies) {
  double again = 0;
  run({[&] {
         static_cast<void>(touch_ns(4096));
         at_ns(20'000);
         again = touch_ns(4096);
       },
       [&] {
         at_ns(10'000);
         static_cast<void>(touch_ns(4096, true));
       }});
  EXPECT_NEAR(again, 64 * 4, tiny_ns);  // from the writer's cache, by way of the shared one
}

TEST_F(touching, first_touch_makes_memory_local) {
  double from_other_socket = 0;
  const auto nothing = [] {};
  run({[&] { static_cast<void>(touch_ns(524288, true)); }, nothing, nothing, nothing,
       [&] {
         at_ns(1e6);
         from_other_socket = touch_ns(262144);  // long out of all caches
       }});
  EXPECT_NEAR(from_other_socket, 4096 * 16, tiny_ns);
}

TEST_F(touching, interleaved_memory_is_half_local) {
  machine_.data.numa = numa_policy::interleave;
  run({[&] { EXPECT_NEAR(touch_ns(65536), 512 * 9 + 512 * 16, tiny_ns); }});
}

TEST_F(touching, memory_serves_one_line_at_a_time) {
  machine_.data.memory_interval_ns = 30;
  run({[&] { EXPECT_NEAR(touch_ns(4096), 64 * 30, tiny_ns); }});
}

TEST_F(touching, released_memory_is_forgotten) {
  run({[&] {
    static_cast<void>(touch_ns(4096));
    world::current()->forget(first_, 4096);
    EXPECT_NEAR(touch_ns(4096), 64 * 9, tiny_ns);
  }});
}

long fib(int n) {
  if (n < 2) return n;
  charge(100);
  auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

/// Virtual seconds and steals of a run on all cores.
std::pair<double, std::uint64_t> run_fib(const machine_description& machine, std::uint64_t seed, int workers) {
  many_core world(machine, seed, workers);
  std::pair<double, std::uint64_t> result;
  world.run([&] {
    scheduler pool({.workers = workers});
    pool.run([&] {
      const double begin_s = filch::vm::now_s();
      EXPECT_EQ(fib(18), 2584);
      result.first = filch::vm::now_s() - begin_s;
    });
    const statistics counted = pool.stats();
    result.second = counted.steals + counted.leaps;
  });
  return result;
}

TEST_F(many_core_test, the_same_seed_gives_the_same_run) {
  EXPECT_EQ(run_fib(machine_, 7, 8), run_fib(machine_, 7, 8));
}

TEST_F(many_core_test, another_seed_gives_another_run) { EXPECT_NE(run_fib(machine_, 7, 8), run_fib(machine_, 8, 8)); }

TEST_F(many_core_test, more_cores_are_faster) {
  const double alone = run_fib(machine_, 1, 1).first;
  const auto [together, steals] = run_fib(machine_, 1, 8);
  EXPECT_LT(together, alone / 3);
  EXPECT_GT(steals, 0U);
}

TEST_F(many_core_test, slower_communication_costs_speed_up) {
  EXPECT_LT(run_fib(scaled(machine_, 0.1), 1, 8).first, run_fib(scaled(machine_, 10), 1, 8).first);
}

}  // namespace
}  // namespace filch::platform::vm
