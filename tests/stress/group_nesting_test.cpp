// Groups that do not nest as branches do: waits under a lock, groups side by side, unwinding, closures whose
// constructors fork, stacks that are full.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/combinations.hpp>
#include <filch/fork_join.hpp>
#include <filch/parallel_for.hpp>
#include <filch/task_group.hpp>

#include "support.hpp"

namespace filch {
namespace {

struct with_policy : testing::TestWithParam<std::string> {
  /// Thieves get half where they can, every other time.
  [[nodiscard]] static options team(int workers) {
    static bool half = false;
    half = !half && tests::steals_half(GetParam());
    return {.workers = workers, .policy = GetParam(), .steal_half = half};
  }
};

/// The policies under which the caller of fork_join runs the first branch itself.
struct first_branch_here : with_policy {};

/// Runs tasks that any thief will need a while for, so that thefts happen.
void busy_for(std::chrono::microseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    std::this_thread::yield();
  }
}

/// A task that is stolen and wants a lock must not be waited for by who holds it and waits for something else.
TEST_P(with_policy, a_lock_is_held_across_the_wait_for_an_older_group) {
  scheduler pool(team(3));
  pool.run([] {
    for (int round = 0; round < 200; ++round) {
      std::mutex lock;
      std::atomic<int> ran = 0;
      task_group older;
      older.run([&] {
        busy_for(std::chrono::microseconds{5});
        ++ran;
      });
      task_group newer;
      for (int i = 0; i < 3; ++i) {
        newer.run([&] {
          const std::lock_guard held(lock);
          ++ran;
        });
      }
      {
        const std::lock_guard held(lock);
        if (round % 2 == 0) busy_for(std::chrono::microseconds{50});
        older.wait();
      }
      newer.wait();
      ASSERT_EQ(ran, 4);
    }
  });
}

TEST_P(first_branch_here, a_branch_that_fills_an_outer_group_is_joined_under_a_lock) {
  scheduler pool(team(3));
  pool.run([] {
    for (int round = 0; round < 200; ++round) {
      std::mutex lock;
      std::atomic<int> ran = 0;
      std::optional<task_group> outer;
      {
        std::unique_lock held(lock, std::defer_lock);
        fork_join(
            [&] {
              outer.emplace();
              for (int i = 0; i < 3; ++i) {
                outer->run([&] {
                  const std::lock_guard mine(lock);
                  ++ran;
                });
              }
              held.lock();
              if (round % 2 == 0) busy_for(std::chrono::microseconds{50});
            },
            [&] { busy_for(std::chrono::microseconds{5}); });
      }
      outer->wait();
      ASSERT_EQ(ran, 3);
    }
  });
}

TEST_P(first_branch_here, many_groups_side_by_side_are_waited_for_in_any_order) {
  scheduler pool(team(2));
  pool.run([] {
    for (int round = 0; round < 60; ++round) {
      constexpr std::size_t groups = 7;
      constexpr std::size_t rounds = 20;
      tests::account ran(groups * rounds);
      std::vector<std::size_t> order(groups);
      for (std::size_t i = 0; i < groups; ++i) order[i] = (i * 3 + static_cast<std::size_t>(round)) % groups;
      task_group all[groups];
      for (std::size_t i = 0; i < rounds; ++i) {
        for (std::size_t g = 0; g < groups; ++g) all[g].run([&ran, i, g] { ran.ran(g * rounds + i); });
      }
      for (const std::size_t g : order) {
        fork_join([&] { all[g].wait(); }, [] {});
        for (std::size_t i = 0; i < rounds; ++i) ASSERT_TRUE(ran.runs(g * rounds + i) == 1);
      }
      ASSERT_EQ(ran.first_not(1), ran.size());
    }
  });
}

/// Runs a group while an exception is on its way through.
struct runs_a_group_at_the_end {
  std::atomic<int>& ran;
  ~runs_a_group_at_the_end() {
    task_group group;
    for (int i = 0; i < 4; ++i) group.run([this] { ++ran; });
    // Waited for by its destructor.
  }
};

TEST_P(with_policy, a_destructor_runs_a_group_while_an_exception_is_in_flight) {
  scheduler pool(team(2));
  pool.run([] {
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> ran = 0;
      const auto unwound = [&] {
        const runs_a_group_at_the_end last{ran};
        throw std::runtime_error("out");
      };
      ASSERT_THROW(unwound(), std::runtime_error);
      ASSERT_EQ(ran, 4);
    }
  });
}

/// A worker that unwinds, and waits for the thief of a group's task, runs parts of that task: those lose nothing.
TEST_P(with_policy, who_unwinds_loses_no_tasks_of_what_it_helps_with) {
  scheduler pool(team(2));
  pool.run([] {
    for (int round = 0; round < 30; ++round) {
      std::atomic<int> ran = 0;
      std::atomic<int> wanted = 0;
      std::atomic<bool> begun = false;
      const auto healthy = [&](int depth, auto& self) -> void {
        if (depth == 0) {
          wanted += 2;
          task_group group;
          for (int i = 0; i < 2; ++i) {
            group.run([&] {
              busy_for(std::chrono::microseconds{2});
              ++ran;
            });
          }
          return;  // its destructor waits
        }
        fork_join([&] { self(depth - 1, self); }, [&] { self(depth - 1, self); });
      };
      const auto fails = [&] {
        task_group stolen;
        stolen.run([&] {
          begun = true;
          healthy(8, healthy);
        });
        for (int i = 0; i < 100 && !begun; ++i) fork_join([] {}, [] { busy_for(std::chrono::microseconds{10}); });
        throw std::runtime_error("out");
      };
      ASSERT_THROW(fails(), std::runtime_error);
      ASSERT_EQ(ran, wanted);
    }
  });
}

/// Copies of it fork, as do moves and the destructor.
template <std::size_t Padding, bool Nothrow>
struct forks_when_copied {
  static inline std::atomic<int> forks = 0;
  std::atomic<int>* ran;
  char padding[Padding] = {};
  explicit forks_when_copied(std::atomic<int>* to) : ran(to) {}
  forks_when_copied(const forks_when_copied& from) noexcept(Nothrow) : ran(from.ran) { work(); }
  forks_when_copied& operator=(const forks_when_copied&) = delete;
  ~forks_when_copied() { work(); }
  void operator()() const { ++*ran; }
  static void work() {
    const std::array<std::uint64_t, 5> junk = {1, 2, 3, 4, 5};  // whatever lies in the slots that it uses
    task_group inner;
    for (int i = 0; i < 5; ++i) inner.run([junk] { forks += static_cast<int>(junk[0]); });
    fork_join([] { ++forks; }, [] { ++forks; });
    inner.wait();
    parallel_for(0, 10, [](int) { ++forks; });
  }
};

template <class Closure>
void run_forking_closures() {
  std::atomic<int> ran = 0;
  const Closure closure(&ran);
  for (int round = 1; round <= 30; ++round) {
    task_group group;
    for (int i = 0; i < 4; ++i) {
      group.run([&ran] { ++ran; });
      group.run(closure);
    }
    group.wait();
    ASSERT_EQ(ran, 8 * round);
  }
}

TEST_P(with_policy, closures_fork_when_they_are_copied) {
  scheduler pool(team(2));
  pool.run([] {
    run_forking_closures<forks_when_copied<8, true>>();
    run_forking_closures<forks_when_copied<8, false>>();
    run_forking_closures<forks_when_copied<100, true>>();
  });
}

/// Its copy constructor adds tasks to another group, and to the one that it is being added to.
struct fills_groups_when_copied {
  task_group* other;
  task_group* same;
  std::atomic<int>* ran;
  fills_groups_when_copied(task_group* a, task_group* b, std::atomic<int>* to) : other(a), same(b), ran(to) {}
  fills_groups_when_copied(const fills_groups_when_copied& from) : other(from.other), same(from.same), ran(from.ran) {
    other->run([n = ran] { ++*n; });
    same->run([n = ran] { ++*n; });
  }
  fills_groups_when_copied& operator=(const fills_groups_when_copied&) = delete;
  ~fills_groups_when_copied() = default;
  void operator()() const { ++*ran; }
};

TEST_P(with_policy, a_closure_fills_groups_when_it_is_copied) {
  scheduler pool(team(2));
  pool.run([] {
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> ran = 0;
      task_group other;
      task_group same;
      const fills_groups_when_copied closure(&other, &same, &ran);
      for (int i = 0; i < 5; ++i) same.run(closure);
      same.wait();
      other.wait();
      ASSERT_EQ(ran, 15);
    }
  });
}

TEST_P(with_policy, a_copy_that_throws_adds_nothing) {
  struct throws_when_copied {
    std::atomic<int>* ran;
    int* copies;
    throws_when_copied(std::atomic<int>* to, int* made) : ran(to), copies(made) {}
    throws_when_copied(const throws_when_copied& from) : ran(from.ran), copies(from.copies) {
      fork_join([] {}, [] {});
      if (++*copies % 3 == 0) throw std::runtime_error("copy");
    }
    throws_when_copied& operator=(const throws_when_copied&) = delete;
    ~throws_when_copied() = default;
    void operator()() const { ++*ran; }
  };
  scheduler pool(team(2));
  pool.run([] {
    std::atomic<int> ran = 0;
    int copies = 0;
    const throws_when_copied closure(&ran, &copies);
    task_group group;
    int added = 0;
    for (int i = 0; i < 300; ++i) {
      try {
        group.run(closure);
        ++added;
      } catch (const std::runtime_error&) {
      }
    }
    group.wait();
    EXPECT_EQ(added, 200);
    EXPECT_EQ(ran, added);
  });
}

TEST_P(first_branch_here, the_wait_for_another_tasks_group_is_refused) {
  scheduler pool(team(2));
  pool.run([] {
    bool stolen = false;
    for (int round = 0; round < 2000 && !stolen; ++round) {
      std::atomic<int> ran = 0;
      task_group group;
      const std::thread::id me = std::this_thread::get_id();
      std::atomic<bool> begun = false;
      fork_join(
          [&] {
            // Forks, so that an owner whom nobody sees is asked.
            for (int i = 0; i < 50 && !begun; ++i) fork_join([] {}, [] { busy_for(std::chrono::microseconds{10}); });
            group.run([&] { ++ran; });
          },
          [&] {
            begun = true;
            if (std::this_thread::get_id() == me) return;
            stolen = true;
            EXPECT_THROW(group.wait(), std::logic_error);
          });
      group.wait();
      ASSERT_EQ(ran, 1);
    }
    EXPECT_TRUE(stolen);
  });
}

/// Nested deeper than activations can be listed.
void nest_heap_groups(int depth, std::atomic<int>& ran) {
  ++ran;
  if (depth == 0) return;
  const auto group = std::make_unique<task_group>();
  group->run([&] { nest_heap_groups(depth - 1, ran); });
  group->wait();
}

TEST_P(with_policy, heap_groups_nest_deeper_than_a_small_stack) {
  for (int i = 0; i < 2; ++i) {
    options small = team(2);
    small.stack_bytes = 4096;
    scheduler pool(small);
    pool.run([] {
      std::atomic<int> ran = 0;
      fork_join([&] { nest_heap_groups(300, ran); }, [&] { nest_heap_groups(300, ran); });
      EXPECT_EQ(ran, 602);
    });
  }
}

/// What waits leave in place below pending branches does not pile up.
TEST_P(first_branch_here, joined_slots_go_away) {
  options small = team(2);
  small.stack_bytes = 4096;
  scheduler pool(small);
  pool.run([] {
    std::atomic<int> ran = 0;
    for (int round = 0; round < 2000; ++round) {
      task_group older;
      older.run([&] { ++ran; });
      fork_join([&] { older.wait(); }, [&] { ++ran; });
      ASSERT_LE(detail::self->head.load() - detail::self->inner.floor, 3) << "in round " << round;
    }
    EXPECT_EQ(ran, 4000);
  });
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const combination& each : combinations()) names.emplace_back(each.policy);
  return names;
}
std::vector<std::string> those_whose_branches_may_be_stolen() {
  std::vector<std::string> names = policy_names();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("adws") || name == "serial"; });
  return names;
}

INSTANTIATE_TEST_SUITE_P(group_nesting, with_policy, testing::ValuesIn(policy_names()),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(group_nesting, first_branch_here, testing::ValuesIn(those_whose_branches_may_be_stolen()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace filch
