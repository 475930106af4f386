// Where virtual workers run, by the formulas of the pinnings, and that what they touch costs by that.
#include "platform/placement.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "vm/machine/many_core.hpp"
#include "worker/worker.hpp"

namespace filch::vm {
namespace {

using platform::vm::many_core;

machine_description machine_of(int sockets, int cores_per_socket, int threads_per_core) {
  machine_description m = load_machine("generic", MACHINES_FOLDER);
  m.sockets = sockets;
  m.cores_per_socket = cores_per_socket;
  m.threads_per_core = threads_per_core;
  m.data.numa = numa_policy::first_touch;
  return m;
}

struct seen {
  int processor = -1;
  platform::group_numbers groups{};
};

/// Where each worker runs, by number.
std::vector<seen> run_pinned(const machine_description& machine, int workers, const char* pinning) {
  std::vector<seen> all(static_cast<std::size_t>(workers));
  // The lookout is one more, where there are more workers than processors.
  simulation world(machine, 1, workers + 1);
  world.run([&] {
    // Of this policy any thief sees every task, whatever the owner does.
    scheduler pool({.workers = workers, .policy = "chase_lev", .pinning = pinning});
    int missing = workers;
    pool.run([&] {
      task_group everybody;
      for (int i = 0; i < workers; ++i) {
        everybody.run([&] {
          const auto& w = static_cast<filch::detail::worker&>(*filch::detail::self);
          all[w.number] = {many_core::current()->processor(), w.location.groups};
          --missing;
          while (missing > 0) charge(1000);  // nobody ends before all have begun
        });
      }
      everybody.wait();
    });
    EXPECT_EQ(many_core::current()->processor(), 0) << "the caller is back where it was";
  });
  return all;
}

struct shape {
  int sockets;
  int cores;
  int threads;
};
constexpr shape shapes[] = {{1, 3, 1}, {2, 4, 1}, {4, 16, 1}, {3, 2, 2}, {1, 2, 8}};

/// Hardware thread h is one of core h modulo the cores; in a socket the first ones of all cores come first.
int in_turn(const shape& s, int socket, int i) {
  return i / s.cores * s.sockets * s.cores + socket * s.cores + i % s.cores;
}

TEST(vm_placement, workers_run_where_the_formulas_say) {
  for (const shape& s : shapes) {
    const int in_socket = s.cores * s.threads;
    const int most = s.sockets * in_socket;
    for (const int workers : {1, 2, 3, 5, 7, 12, 13, 31, 48, 64, most}) {
      if (workers > most) continue;
      const machine_description machine = machine_of(s.sockets, s.cores, s.threads);
      for (const char* pinning : {"none", "compact", "scatter"}) {
        const std::vector<seen> all = run_pinned(machine, workers, pinning);
        std::map<int, int> before_in_socket;
        for (int w = 0; w < workers; ++w) {
          const bool scatters = std::string(pinning) == "scatter";
          const int socket = scatters ? w * s.sockets / workers : w / in_socket;
          int expected = in_turn(s, socket, before_in_socket[socket]++);
          if (std::string(pinning) == "none") expected = w;
          const seen& found = all[static_cast<std::size_t>(w)];
          ASSERT_EQ(found.processor, expected) << pinning << ", worker " << w << " of " << workers;
          const auto core = static_cast<unsigned>(expected % (s.sockets * s.cores));
          const unsigned socket_of_core = core / static_cast<unsigned>(s.cores);
          EXPECT_THAT(found.groups, testing::ElementsAre(core, socket_of_core, socket_of_core));
        }
      }
    }
  }
}

TEST(vm_placement, more_workers_than_processors_share_them_evenly) {
  for (const char* pinning : {"compact", "scatter"}) {
    std::map<int, int> workers_of;
    for (const seen& each : run_pinned(machine_of(2, 3, 1), 15, pinning)) ++workers_of[each.processor];
    EXPECT_EQ(workers_of.size(), 6U);
    for (const auto& [processor, workers] : workers_of) EXPECT_TRUE(workers == 2 || workers == 3) << processor;
  }
}

TEST(vm_placement, other_threads_run_where_no_worker_does) {
  // Workers 0 to 2 have processors 0, 1 and 4 of two sockets of four, so 2 is the first one that is free.
  simulation world(machine_of(2, 4, 1), 1, 5);
  world.run([&] {
    const scheduler pool({.workers = 3, .pinning = "scatter"});
    int first = -1;
    int second = -1;
    platform::thread one(0, [&] { first = many_core::current()->processor(); });
    platform::thread two(0, [&] { second = many_core::current()->processor(); });
    one.join();
    two.join();
    EXPECT_EQ(first, 2);
    EXPECT_EQ(second, 3);
  });
}

TEST(vm_placement, memory_is_near_to_the_socket_that_a_worker_is_pinned_to) {
  const machine_description machine = machine_of(2, 4, 1);
  for (const char* pinning : {"compact", "scatter"}) {
    std::vector<std::byte> data(std::size_t{1} << 16);
    double cost_ns = 0;
    simulation world(machine, 1, 2);
    world.run([&] {
      scheduler pool({.workers = 2, .policy = "lace", .pinning = pinning});
      pool.run([&] {
        touch(data.data(), data.size(), false);  // by worker 0
        charge(1e6);
        bool stolen = false;
        fork_join(
            [&] {
              while (!stolen) charge(100);
            },
            [&] {
              stolen = true;
              const double begin_s = now_s();
              touch(data.data(), data.size(), true);
              cost_ns = (now_s() - begin_s) * 1e9;
            });
      });
    });
    // Of another socket there is no copy in the shared cache, and the home is remote.
    const double lines = static_cast<double>(data.size()) / 64;
    const bool is_far = std::string(pinning) == "scatter";
    EXPECT_NEAR(cost_ns / lines, is_far ? machine.data.remote_memory_line_ns : machine.data.shared_line_ns, 0.1);
  }
}

}  // namespace
}  // namespace filch::vm
