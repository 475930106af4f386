#include <memory>

#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

/// A flag that one branch sets and its sibling waits for: legal only where another worker is sure to come, which is
/// what the sleep protocol promises. A wake-up that is lost leaves the sibling waiting for ever.
class signal {
 public:
  void set() { begun_.store(true, std::memory_order_release); }
  /// Forks meanwhile, and so answers whoever asks.
  void wait_answering() const {
    while (!begun_.load(std::memory_order_acquire)) {
      fork_join([] {}, [] {});
      platform::pause();
    }
  }
  /// Keeps silent, provided that all tasks are offered: whoever sleeps by then must have been woken by that very offer.
  /// (While something is not offered, nobody has promised anything.)
  void wait_silently_if_offered() const {
    const auto* const w = detail::self;
    if (w->split.load() == w->head.load()) wait_silently();
  }
  void wait_silently() const {
    while (!begun_.load(std::memory_order_acquire)) platform::pause();
  }

 private:
  platform::atomic<bool> begun_{false};
};

using wait_function = void (signal::*)() const;

void explore_wake_up(const options& chosen, int rounds, wait_function wait) {
  scheduler pool(chosen);
  pool.run([&] {
    for (int round = 0; round < rounds; ++round) {
      signal begun;
      fork_join([&] { (begun.*wait)(); }, [&] { begun.set(); });
    }
  });
}

/// Offers inside a task that somebody else waits for.
void explore_offer_inside(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    signal begun;
    fork_join([] {}, [&] { fork_join([&] { begun.wait_silently_if_offered(); }, [&] { begun.set(); }); });
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

/// A task on the heap, which is offered as soon as it is there.
void explore_detached_wake_up(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    const auto on_heap = std::make_unique<task_group>();
    task_group& outer = *on_heap;
    signal begun;
    fork_join(
        [&] {
          outer.run([&] { begun.set(); });
          begun.wait_silently();
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
    const auto on_heap = std::make_unique<task_group>();
    task_group& outer = *on_heap;
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

/// A thread that is no worker adds a task to a group: the pool's only thread, which may be about to sleep, has to run it.
void explore_detached_by_a_stranger(const options& chosen) {
  scheduler pool(chosen);
  std::unique_ptr<task_group> group;
  pool.run([&] {
    group = std::make_unique<task_group>();
    group->run([] {});
    group->wait();
  });
  signal begun;
  group->run([&] { begun.set(); });
  begun.wait_silently();
  group->wait();
}

/// The pool's only worker waits for a group to which a thread that is no worker adds tasks: nobody else runs them.
void explore_added_while_waiting(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  std::unique_ptr<task_group> group;
  platform::atomic<bool> made{false};
  in_parallel({[&] {
                 pool.run([&] {
                   group = std::make_unique<task_group>();
                   group->run([&] { ran.ran(0); });
                   made.store(true, std::memory_order_release);
                   group->wait();
                 });
               },
               [&] {
                 while (!made.load(std::memory_order_acquire)) platform::pause();
                 group->run([&] { ran.ran(1); });
                 group->run([&] { ran.ran(2); });
               }});
  group->wait();
  ran.check_all();
}

/// A waiter that sleeps until its task is done.
void explore_waiter(const options& chosen) {
  scheduler pool(chosen);
  payload result(0);
  pool.run([&] {
    signal begun;
    fork_join([&] { begun.wait_answering(); },
              [&] {
                begun.set();
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
  for (const std::string policy : {"lace", "chase_lev", "receiver", "receiver_blocking", "sender"}) {
    to.push_back({policy + "_wake_up", "one sleeper, one offer that must wake it",
                  [=] { explore_wake_up(small(2, policy, "transitive"), 1, &signal::wait_answering); }});
    to.push_back({policy + "_wake_up_again", "the same twice in a row, two sleepers",
                  [=] { explore_wake_up(small(3, policy, "transitive"), 2, &signal::wait_answering); }});
    to.push_back({policy + "_offer", "offers that must wake the only sleeper",
                  [=] { explore_wake_up(small(2, policy, "transitive"), 3, &signal::wait_silently_if_offered); }});
    to.push_back({policy + "_offer_two", "offers that must wake one of two sleepers",
                  [=] { explore_wake_up(small(3, policy, "transitive"), 3, &signal::wait_silently_if_offered); }});
    to.push_back({policy + "_offer_inside", "offers inside a task that its owner waits for",
                  [=] { explore_offer_inside(small(2, policy, "transitive")); }});
    to.push_back({policy + "_wake_chain", "two offers that must wake two sleepers",
                  [=] { explore_wake_chain(small(3, policy, "transitive")); }});
    to.push_back({policy + "_waiter", "a waiter that sleeps until its task is done",
                  [=] { explore_waiter(small(2, policy, "transitive")); }});
  }
  to.push_back({"detached_wake_up", "a task on the heap that must wake a sleeper",
                [] { explore_detached_wake_up(small(2, "lace", "transitive")); }});
  to.push_back({"detached_by_a_stranger", "a task that a thread outside of the pool adds",
                [] { explore_detached_by_a_stranger(small(2, "lace", "transitive")); }});
  to.push_back({"detached_while_waiting", "tasks that a thread outside of the pool adds, while the only worker waits",
                [] { explore_added_while_waiting(small(1, "lace", "transitive")); }});
  to.push_back({"detached_while_two_wait", "the same with another worker",
                [] { explore_added_while_waiting(small(2, "lace", "transitive")); }});
  to.push_back({"detached_wake_two", "two tasks on the heap that must wake two sleepers",
                [] { explore_two_detached(small(3, "lace", "transitive")); }});
  to.push_back({"sleepy", "work for a pool that sleeps", [] { explore_sleepy(small(3, "lace", "transitive")); }});
}

}  // namespace filch::explore
