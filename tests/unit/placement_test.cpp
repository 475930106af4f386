// Where workers are put, by the formulas of the two pinnings; and affinity masks of threads before, during and after.
#include "platform/placement.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filch/filch.hpp>
#include <filch/topology.hpp>

#include "platform/hardware.hpp"
#include "platform/usable.hpp"
#include "worker/worker.hpp"

namespace filch::platform {
namespace {

using filch::detail::worker;
using testing::Each;
using testing::ElementsAre;

struct shape {
  int sockets;
  int caches;  ///< of each socket
  int cores;   ///< of each cache
  int threads;

  [[nodiscard]] int per_socket() const { return caches * cores * threads; }
  [[nodiscard]] int all() const { return sockets * per_socket(); }
};

/// As Linux numbers them: first one hardware thread of each core of the machine, then the second ones. In any order.
std::vector<hardware_thread> hardware(const shape& s) {
  const int cores = s.sockets * s.caches * s.cores;
  std::vector<hardware_thread> made;
  for (int i = 0; i < s.all(); ++i) {
    const int core = i % cores;
    const auto group = [&](int size) { return static_cast<std::uint32_t>(core / size); };
    made.push_back({i, {group(1), group(s.cores), group(s.cores * s.caches)}});
  }
  std::shuffle(made.begin(), made.end(), std::mt19937(1));
  return made;
}

/// The hardware thread that is in turn as number i of its socket, in a machine of that shape.
int in_turn(const shape& s, int socket, int i) {
  const int cores_of_socket = s.caches * s.cores;
  return i / cores_of_socket * s.sockets * cores_of_socket + socket * cores_of_socket + i % cores_of_socket;
}

std::vector<int> processors_of(const std::vector<worker_place>& places) {
  std::vector<int> processors;
  for (const worker_place& each : places) processors.push_back(each.processor);
  return processors;
}

constexpr shape shapes[] = {{1, 1, 1, 1}, {1, 1, 2, 1}, {4, 1, 16, 1}, {4, 1, 16, 2}, {2, 3, 4, 2}, {3, 1, 5, 1}};

TEST(placement, compact_fills_sockets_in_order_and_cores_before_their_second_threads) {
  for (const shape& s : shapes) {
    for (int workers = 1; workers <= 2 * s.all() + 1; ++workers) {
      const std::vector<worker_place> places = place_workers(hardware(s), workers, pinning::compact);
      ASSERT_EQ(places.size(), static_cast<std::size_t>(workers));
      for (int w = 0; w < workers; ++w) {
        const int turn = w % s.all();
        ASSERT_EQ(places[static_cast<std::size_t>(w)].processor,
                  in_turn(s, turn / s.per_socket(), turn % s.per_socket()));
      }
    }
  }
}

TEST(placement, scatter_puts_worker_w_of_p_into_socket_floor_w_s_over_p) {
  for (const shape& s : shapes) {
    for (int workers = 1; workers <= 2 * s.all() + 1; ++workers) {
      const std::vector<worker_place> places = place_workers(hardware(s), workers, pinning::scatter);
      ASSERT_EQ(places.size(), static_cast<std::size_t>(workers));
      std::map<int, int> before_in_socket;
      for (int w = 0; w < workers; ++w) {
        const int socket = w * s.sockets / workers;
        const worker_place& at = places[static_cast<std::size_t>(w)];
        ASSERT_EQ(at.groups[2], static_cast<std::uint32_t>(socket)) << w << " of " << workers;
        ASSERT_EQ(at.processor, in_turn(s, socket, before_in_socket[socket]++ % s.per_socket()));
      }
    }
  }
}

TEST(placement, groups_are_those_of_the_processor) {
  const shape s{2, 3, 4, 2};
  for (const pinning way : {pinning::compact, pinning::scatter}) {
    for (const worker_place& each : place_workers(hardware(s), 50, way)) {
      const auto core = static_cast<std::uint32_t>(each.processor % 24);
      EXPECT_THAT(each.groups, ElementsAre(core, core / 4, core / 12));
    }
  }
  const std::vector<worker_place> places = place_workers(hardware(s), 48, pinning::compact);
  EXPECT_TRUE(places[0].shares(group_level::core, places[12]));
  EXPECT_TRUE(places[0].shares(group_level::cache, places[3]));
  EXPECT_FALSE(places[0].shares(group_level::cache, places[4]));
  EXPECT_TRUE(places[0].shares(group_level::socket, places[23]));
  EXPECT_FALSE(places[0].shares(group_level::socket, places[24]));
}

TEST(placement, no_worker_shares_a_processor_while_there_are_enough) {
  // An affinity mask may leave sockets of any size.
  std::mt19937 dice(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<hardware_thread> some = hardware({4, 1, 4, 2});
    some.resize(1 + dice() % some.size());
    const auto size = static_cast<int>(some.size());
    for (const int workers : {1, size / 2 + 1, size, size + 1, 3 * size}) {
      for (const pinning way : {pinning::compact, pinning::scatter}) {
        std::map<int, int> load;
        for (const int processor : processors_of(place_workers(some, workers, way))) ++load[processor];
        for (const auto& [processor, times] : load) {
          EXPECT_LE(times, (workers + size - 1) / size) << workers << " workers on " << size;
        }
      }
    }
  }
}

TEST(placement, a_topology_is_read_level_by_level) {
  topology machine;
  // Two packages, the second one with two memory nodes; cores and caches are numbered anew in each package.
  machine.cpus = {{.package = 0, .numa_node = 0, .l3 = 0, .core = 0, .cpu = 0},
                  {.package = 0, .numa_node = 0, .l3 = 0, .core = 1, .cpu = 1},
                  {.package = 1, .numa_node = 1, .l3 = 0, .core = 0, .cpu = 2},
                  {.package = 1, .numa_node = 2, .l3 = 0, .core = 1, .cpu = 3},
                  {.package = 0, .numa_node = 0, .l3 = 0, .core = 0, .cpu = 4}};
  std::map<int, group_numbers> found;
  for (const hardware_thread& each : hardware_of(machine, {})) found[each.processor] = each.groups;
  EXPECT_THAT(found, ElementsAre(testing::Pair(0, ElementsAre(0, 0, 0)), testing::Pair(1, ElementsAre(1, 0, 0)),
                                 testing::Pair(2, ElementsAre(2, 1, 1)), testing::Pair(3, ElementsAre(3, 2, 2)),
                                 testing::Pair(4, ElementsAre(0, 0, 0))));
}

TEST(placement, an_unknown_topology_is_one_socket) {
  const std::vector<hardware_thread> found = hardware_of(topology{}, {3, 5, 8});
  EXPECT_THAT(processors_of(place_workers(found, 4, pinning::scatter)), ElementsAre(3, 5, 8, 3));
  for (const hardware_thread& each : found) EXPECT_EQ(each.groups[2], 0U);
  EXPECT_THAT(processors_of(place_workers(hardware_of(topology{}, {}), 2, pinning::compact)), Each(no_processor));
}

/// Of the calling thread.
std::vector<int> mask() {
  cpu_set_t set;
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return found;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) found.push_back(i);
  }
  return found;
}

void set_mask(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int each : processors) CPU_SET(static_cast<std::size_t>(each), &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// What each worker sees, by number, under a policy of which thieves see every task: one task of its own, since none ends before all have begun.
template <class T, class Look>
std::vector<T> seen_by_all(scheduler& pool, Look look) {
  std::vector<T> seen(static_cast<std::size_t>(pool.workers()));
  std::atomic<int> missing{pool.workers()};
  pool.run([&] {
    task_group everybody;
    for (int i = 0; i < pool.workers(); ++i) {
      everybody.run([&] {
        auto& w = static_cast<worker&>(*filch::detail::self);
        seen[w.number] = look(w);
        --missing;
        while (missing > 0) std::this_thread::yield();
      });
    }
    everybody.wait();
  });
  return seen;
}

TEST(pinning, binds_each_worker_to_the_processor_of_its_place) {
  const std::vector<int> before = mask();
  const std::vector<hardware_thread> usable = hardware_of(discover_topology(), affinity());
  for (const pinning way : {pinning::compact, pinning::scatter}) {
    for (const int workers : {1, 2, 5}) {
      scheduler pool({.workers = workers, .policy = "chase_lev", .pinning = std::string(name_of(way))});
      EXPECT_EQ(pool.pinning(), name_of(way));
      EXPECT_EQ(mask(), before);
      const auto masks = seen_by_all<std::vector<int>>(pool, [](const worker&) { return mask(); });
      const std::vector<worker_place> expected = place_workers(usable, workers, way);
      for (std::size_t w = 0; w < masks.size(); ++w) EXPECT_THAT(masks[w], ElementsAre(expected[w].processor));
      const auto groups = seen_by_all<group_numbers>(pool, [](const worker& w) { return w.location.groups; });
      for (std::size_t w = 0; w < groups.size(); ++w) EXPECT_EQ(groups[w], expected[w].groups);
      EXPECT_EQ(mask(), before) << "the caller has its mask back";
    }
  }
  scheduler free({.workers = 2, .policy = "chase_lev", .pinning = "none"});
  EXPECT_THAT(seen_by_all<std::vector<int>>(free, [](const worker&) { return mask(); }), Each(before));
  EXPECT_THAT(seen_by_all<group_numbers>(free, [](const worker& w) { return w.location.groups; }),
              Each(ElementsAre(0, 0, 0)));
}

TEST(pinning, counts_the_processors_of_the_affinity_mask_only) {
  const std::vector<int> before = mask();
  set_mask({before.back()});
  {
    scheduler pool({.workers = 3, .policy = "chase_lev", .pinning = "scatter"});
    EXPECT_THAT(seen_by_all<std::vector<int>>(pool, [](const worker&) { return mask(); }),
                Each(ElementsAre(before.back())));
  }
  set_mask(before);
}

TEST(pinning, stays_when_workers_have_slept) {
  scheduler pool({.workers = 3, .policy = "chase_lev", .pinning = "compact"});
  const auto look = [](const worker&) { return mask(); };
  const auto first = seen_by_all<std::vector<int>>(pool, look);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // lets them fall asleep; they may also not
    EXPECT_EQ(seen_by_all<std::vector<int>>(pool, look), first);
  }
}

TEST(pinning, ends_with_run_whatever_comes_out_of_it) {
  const std::vector<int> before = mask();
  scheduler outer({.workers = 2, .pinning = "compact"});
  EXPECT_THROW(outer.run([] { throw 1; }), int);
  EXPECT_EQ(mask(), before);
  // Inside of a bound thread the processors of the process count, not the one that the thread is bound to.
  outer.run([&] {
    const std::vector<int> bound = mask();
    EXPECT_EQ(bound.size(), 1U);
    EXPECT_EQ(affinity(), before);
    scheduler free({.workers = 2, .policy = "chase_lev"});
    EXPECT_THAT(seen_by_all<std::vector<int>>(free, [](const worker&) { return mask(); }), ElementsAre(bound, before));
    scheduler inner({.workers = 2, .policy = "chase_lev", .pinning = "scatter"});
    const auto masks = seen_by_all<std::vector<int>>(inner, [](const worker&) { return mask(); });
    EXPECT_THAT(masks, Each(testing::SizeIs(1)));
    EXPECT_EQ(masks.front() == masks.back(), before.size() == 1);
    EXPECT_EQ(mask(), bound);
  });
  EXPECT_EQ(mask(), before);
}

TEST(pinning, leaves_a_mask_that_the_program_sets_in_between) {
  const std::vector<int> before = mask();
  scheduler pool({.workers = 1, .policy = "chase_lev", .pinning = "compact"});
  const std::vector<int> chosen = before.size() > 1 ? std::vector{before[1]} : before;
  pool.run([&] { set_mask(chosen); });
  EXPECT_EQ(mask(), chosen);
  set_mask(before);
}

TEST(pinning, does_not_bind_guests) {
  const std::vector<int> before = mask();
  scheduler pool({.workers = 1, .policy = "chase_lev", .pinning = "compact"});
  pool.run([&] {
    std::thread other([&] {
      set_mask(before);  // it began with that of the worker
      pool.run([&] {
        EXPECT_EQ(mask(), before);
        EXPECT_THAT(static_cast<worker&>(*filch::detail::self).location.groups, Each(no_group));
      });
      EXPECT_EQ(mask(), before);
    });
    other.join();
  });
}

}  // namespace
}  // namespace filch::platform
