#include <array>
#include <cstddef>

#include "platform/clock.hpp"
#include "scenario.hpp"
#include "scheduler/configuration.hpp"
#include "scheduler/lookout.hpp"
#include "scheduler/scheduler_core.hpp"
#include "sleeper.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/policy.hpp"
#include "worker/sleepers.hpp"
#include "worker/striped_mutex.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::explore {
namespace {

/// Workers without a scheduler's loop.
struct bare_workers {
  scheduler home;
  team everybody;
  sleepers idle;
  interrupter interrupts{everybody, 0};
  striped_mutex mutexes;
  const std::unique_ptr<policy> rules;

  bare_workers(std::uint16_t n, const std::string& named, std::uint32_t processors = 0)
      : home(small(1, named, "transitive")), idle(everybody, processors), rules(make_policy(home.core().chosen())) {
    for (std::uint16_t i = 0; i < n; ++i) {
      everybody.add(std::make_unique<worker>(i, home.core(),
                                             common_parts{everybody, idle, interrupts, *rules, home.core().spares(),
                                                          mutexes, n, patience::spin_ns, named, false},
                                             home.core().chosen().stack_bytes));
      everybody[i].offered = rules->make_offer();
    }
  }
};

/// One worker sleeps; another one that is about to is woken by an offer, or sees it itself, and has found work then:
/// whoever wakes whom, somebody is left who wakes the first one.
void explore_woken_while_awake() {
  bare_workers workers(2, "lace");
  sleepers& idle = workers.idle;
  worker& asleep = workers.everybody[0];
  worker& drowsy = workers.everybody[1];
  for (const worker* w : {&asleep, &drowsy}) idle.begin_search(*w);
  idle.announce(asleep);
  in_parallel({[&] {
                 idle.sleep(asleep, interrupter::never);
                 idle.end_search(asleep);
               },
               [&] {
                 idle.announce(drowsy);
                 idle.withdraw(drowsy);
                 idle.end_search(drowsy);
               },
               [&] { idle.offered(); }});
  check(!idle.anybody(), "a worker that runs tasks is counted as one without work");
}

/// The owner, which has something to give and was asked for it before, falls asleep in a wait that only the other one
/// ends, by running that; the other looks for work and falls asleep as well. However the two overlap, one of them wakes
/// the other.
void explore_both_asleep(const std::string& named) {
  bare_workers workers(2, named);
  sleepers& idle = workers.idle;
  policy& rules = *workers.rules;
  worker& owner = workers.everybody[0];
  worker& other = workers.everybody[1];

  account ran(2);
  platform::atomic<bool> begun{false};
  platform::atomic<bool> done{false};
  in_parallel({[&] {
                 detail::self = &owner;
                 parallel_for(0, 2, [&](int i) {
                   ran.ran(static_cast<std::size_t>(i));
                   if (i == 1) {
                     check(detail::self == &other, "an iteration ran before the one that it was to wait for");
                     done.store(true, std::memory_order_release);
                     owner.parker.unpark();
                     return;
                   }
                   detail::attend(owner);
                   owner.raise();
                   begun.store(true, std::memory_order_release);
                   while (!done.load(std::memory_order_acquire)) {
                     sleeper(owner).sleep();
                   }
                 });
                 detail::self = &detail::foreign_worker;
               },
               [&] {
                 detail::self = &other;
                 while (!begun.load(std::memory_order_acquire)) platform::pause();
                 idle.begin_search(other);
                 while (!done.load(std::memory_order_relaxed)) {
                   if (rules.acquire(other)) {
                     idle.begin_search(other);
                     continue;
                   }
                   idle.announce(other);
                   if (rules.work_visible(other)) {
                     idle.withdraw(other);
                   } else {
                     idle.sleep(other, interrupter::never);
                   }
                   if (rules.collect(other)) idle.begin_search(other);
                 }
                 detail::self = &detail::foreign_worker;
               }});
  ran.check_all();
}

/// Whom an offer wakes where there are two processors: nobody while two are awake, unless the crowd is open; else a sleeper.
void explore_crowd() {
  bare_workers workers(3, "lace", 2);
  sleepers& idle = workers.idle;
  worker& first = workers.everybody[0];
  worker& second = workers.everybody[1];
  const auto sleeps = [](const worker& w) {
    return w.sleep.state.load(std::memory_order_relaxed) == sleep_state::asleep;
  };
  idle.announce(first);
  idle.offered();
  check(sleeps(first) && idle.held_back().is_noted(), "a third worker is woken for two processors");
  idle.held_back().open(true);
  idle.offered();
  check(!sleeps(first), "nobody is woken although the crowd is open");
  idle.withdraw(first);
  idle.held_back().open(false);
  idle.announce(first);
  idle.announce(second);
  idle.offered();
  check(sleeps(first) != sleeps(second), "of two processors one is not used");
  idle.withdraw(first);
  idle.withdraw(second);
}

/// One of two workers is busy, on the only processor, so nobody is woken for what two threads offer. Both wait until that was
/// done all the same, each twice: the lookout, which sleeps before and may sleep in between, sees to it.
void explore_held_back() {
  bare_workers workers(2, "lace", 1);
  sleepers& idle = workers.idle;
  worker& w = workers.everybody[0];
  constexpr int rounds = 2;
  using number = platform::atomic<int>;
  std::array<number, 2> offered{0, 0};
  std::array<number, 2> done{0, 0};
  lookout watch(idle, workers.everybody);
  const auto offer = [&](std::size_t by) {
    for (int round = 1; round <= rounds; ++round) {
      offered[by].store(round, std::memory_order_seq_cst);
      idle.offered();
      while (done[by].load(std::memory_order_relaxed) != round) platform::pause();
    }
  };
  in_parallel({[&] { offer(0); }, [&] { offer(1); },
               [&] {
                 const auto find = [&](std::memory_order order) {
                   for (std::size_t by = 0; by < 2; ++by) {
                     if (offered[by].load(order) > done[by].load(std::memory_order_relaxed))
                       return static_cast<int>(by);
                   }
                   return -1;
                 };
                 idle.begin_search(w);
                 for (int left = 2 * rounds; left != 0;) {
                   if (const int by = find(std::memory_order_relaxed); by >= 0) {
                     idle.end_search(w);
                     done[static_cast<std::size_t>(by)].fetch_add(1, std::memory_order_relaxed);
                     --left;
                     idle.begin_search(w);
                     continue;
                   }
                   idle.announce(w);
                   if (find(std::memory_order_seq_cst) >= 0) {
                     idle.withdraw(w);
                   } else {
                     idle.sleep(w, interrupter::never);
                   }
                 }
                 idle.end_search(w);
               }});
}

}  // namespace

void add_asleep(scenario_list& to) {
  to.push_back(
      {"woken_while_awake", "a worker that is woken when it has found work already", &explore_woken_while_awake});
  to.push_back({"crowd", "whom an offer wakes where there are more workers than processors", &explore_crowd});
  to.push_back({"held_back", "a wake-up that is held back, since as many are awake as there are processors",
                &explore_held_back});
  for (const std::string policy : {"lace", "receiver", "sender"}) {
    to.push_back({policy + "_both_asleep", "an owner that falls asleep, and the only one who could help it as well",
                  [=] { explore_both_asleep(policy); }});
  }
}

}  // namespace filch::explore
