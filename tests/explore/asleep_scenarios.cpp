#include "platform/clock.hpp"
#include "scenario.hpp"
#include "scheduler/configuration.hpp"
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
  sleepers idle{everybody};
  interrupter interrupts{everybody, 0};
  striped_mutex mutexes;
  const std::unique_ptr<policy> rules;

  bare_workers(std::uint16_t n, const std::string& named)
      : home(small(1, named, "transitive")), rules(make_policy(home.core().chosen())) {
    for (std::uint16_t i = 0; i < n; ++i) {
      everybody.add(std::make_unique<worker>(i, home, home.core(),
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

}  // namespace

void add_asleep(scenario_list& to) {
  to.push_back(
      {"woken_while_awake", "a worker that is woken when it has found work already", &explore_woken_while_awake});
  for (const std::string policy : {"lace", "receiver", "sender"}) {
    to.push_back({policy + "_both_asleep", "an owner that falls asleep, and the only one who could help it as well",
                  [=] { explore_both_asleep(policy); }});
  }
}

}  // namespace filch::explore
