#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

/// A branch that cannot end before its sibling has run: legal only where another worker is sure to come, which is what
/// the sleep protocol promises. A wake-up that is lost leaves the first branch waiting for ever.
void explore_wake_up(const options& chosen, int rounds) {
  scheduler pool(chosen);
  pool.run([&] {
    for (int round = 0; round < rounds; ++round) {
      platform::atomic<int> begun{0};
      fork_join(
          [&] {
            while (begun.load(std::memory_order_acquire) == 0) {
              fork_join([] {}, [] {});  // keeps answering whoever asks
              platform::pause();
            }
          },
          [&] { begun.store(1, std::memory_order_release); });
    }
  });
}

/// The same, except that the first branch keeps silent once its sibling is offered: whoever sleeps by then must have
/// been woken by that very offer. (While it is not offered, nobody has promised anything.)
void explore_offer(const options& chosen, int rounds) {
  scheduler pool(chosen);
  pool.run([&] {
    for (int round = 0; round < rounds; ++round) {
      platform::atomic<int> begun{0};
      fork_join(
          [&] {
            const auto* const w = detail::self;
            if (w->split.load() != w->head.load()) return;
            while (begun.load(std::memory_order_acquire) == 0) platform::pause();
          },
          [&] { begun.store(1, std::memory_order_release); });
    }
  });
}

/// Offers inside a task that somebody else waits for.
void explore_offer_inside(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    platform::atomic<int> begun{0};
    fork_join([] {},
              [&] {
                fork_join(
                    [&] {
                      const auto* const w = detail::self;
                      if (w->split.load() != w->head.load()) return;
                      while (begun.load(std::memory_order_acquire) == 0) platform::pause();
                    },
                    [&] { begun.store(1, std::memory_order_release); });
              });
  });
}

/// Two siblings that both have to be picked up: the worker that is woken has to wake the next.
void explore_wake_chain(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    platform::atomic<int> begun{0};
    const auto meet = [&] {
      begun.fetch_add(1, std::memory_order_acq_rel);
      while (begun.load(std::memory_order_acquire) < 3) {
        fork_join([] {}, [] {});
        platform::pause();
      }
    };
    fork_join(meet, meet, meet);
  });
}

/// The same for tasks on the heap.
void explore_detached_wake_up(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    task_group outer;
    platform::atomic<int> begun{0};
    fork_join(
        [&] {
          outer.run([&] { begun.store(1, std::memory_order_release); });
          while (begun.load(std::memory_order_acquire) == 0) platform::pause();
        },
        [] {});
    outer.wait();
  });
}

/// Two tasks on the heap, of which the first cannot end before the second has begun: whoever is awake when they come,
/// and takes one, has to wake somebody for the other.
void explore_two_detached(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    task_group outer;
    platform::atomic<int> begun{0};
    const auto meet = [&] {
      begun.fetch_add(1, std::memory_order_acq_rel);
      while (begun.load(std::memory_order_acquire) < 2) platform::pause();
    };
    fork_join(
        [&] {
          outer.run(meet);
          outer.run(meet);
          while (begun.load(std::memory_order_acquire) < 2) platform::pause();
        },
        [] {});
    outer.wait();
  });
}

/// A waiter that sleeps until its task is done.
void explore_waiter(const options& chosen) {
  scheduler pool(chosen);
  payload result(0);
  pool.run([&] {
    platform::atomic<int> begun{0};
    fork_join(
        [&] {
          while (begun.load(std::memory_order_acquire) == 0) {
            fork_join([] {}, [] {});
            platform::pause();
          }
        },
        [&] {
          begun.store(1, std::memory_order_release);
          result.store(1);
        });
    check(result.load() == 1, "a result got lost");
  });
}

/// While the root works alone, everybody falls asleep; then there is work.
void explore_sleepy(const options& chosen) {
  scheduler pool(chosen);
  account ran(2);
  pool.run([&] {
    for (int i = 0; i < 20; ++i) platform::pause();
    fork_join([&] { ran.ran(0); }, [&] { ran.ran(1); });
  });
  ran.check_all();
}

}  // namespace

void add_sleep(scenario_list& to) {
  for (const std::string policy : {"lace", "chase_lev"}) {
    to.push_back({policy + "_wake_up", "one sleeper, one offer that must wake it",
                  [=] { explore_wake_up(small(2, policy, "transitive"), 1); }});
    to.push_back({policy + "_wake_up_again", "the same twice in a row, two sleepers",
                  [=] { explore_wake_up(small(3, policy, "transitive"), 2); }});
    to.push_back({policy + "_offer", "offers that must wake the only sleeper",
                  [=] { explore_offer(small(2, policy, "transitive"), 3); }});
    to.push_back({policy + "_offer_two", "offers that must wake one of two sleepers",
                  [=] { explore_offer(small(3, policy, "transitive"), 3); }});
    to.push_back({policy + "_offer_inside", "offers inside a task that its owner waits for",
                  [=] { explore_offer_inside(small(2, policy, "transitive")); }});
    to.push_back({policy + "_wake_chain", "two offers that must wake two sleepers",
                  [=] { explore_wake_chain(small(3, policy, "transitive")); }});
    to.push_back({policy + "_waiter", "a waiter that sleeps until its task is done",
                  [=] { explore_waiter(small(2, policy, "transitive")); }});
  }
  to.push_back({"detached_wake_up", "a task on the heap that must wake a sleeper",
                [] { explore_detached_wake_up(small(2, "lace", "transitive")); }});
  to.push_back({"detached_wake_two", "two tasks on the heap that must wake two sleepers",
                [] { explore_two_detached(small(3, "lace", "transitive")); }});
  to.push_back({"sleepy", "work for a pool that sleeps", [] { explore_sleepy(small(3, "lace", "transitive")); }});
}

}  // namespace filch::explore
