#include "platform/clock.hpp"
#include "scenario.hpp"
#include "scheduler/configuration.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/policy.hpp"
#include "worker/sleepers.hpp"
#include "worker/striped_mutex.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::explore {
namespace {

/// A task made of a function, for workers that are driven by hand.
struct scripted final : detail::task {
  std::function<void()> body;
  explicit scripted(std::function<void()> f) : body(std::move(f)) {
    run.store([](detail::task& t, detail::run_by) {
      static_cast<scripted&>(t).body();
      return detail::run_result::done;
    });
  }
};

/// Runs two functions side by side.
using both_function = std::function<void(const std::function<void()>&, const std::function<void()>&)>;

void fork_both(const std::function<void()>& a, const std::function<void()>& b) { fork_join(a, b); }
/// In two chunks, since the first waits for the second.
void loop_both(const std::function<void()>& a, const std::function<void()>& b) {
  parallel_for(0, 2, [&](int i) { i == 0 ? a() : b(); }, loop::lazy_breadth{.grain = 1});
}

/// Three workers without a scheduler's loop. The waiter waits for X, which the thief runs, robbed of a child by the
/// third. Then the thief runs Q, and is robbed of R in the very slot of that child; R's thief offers S. However old
/// what the waiter sees of the thief, it must not follow R to S: Q is not inside X.
void explore_lineage(const std::string& policy, const both_function& both) {
  scheduler home(small(1, policy, "transitive"));
  team everybody;
  sleepers idle(everybody);
  interrupter interrupts(everybody, 0);
  striped_mutex mutexes;
  const auto rules = make_policy(home.core().chosen());
  for (std::uint16_t i = 0; i < 3; ++i) {
    everybody.add(std::make_unique<worker>(i, home.core(),
                                           common_parts{everybody, idle, interrupts, *rules, home.core().spares(),
                                                        mutexes, 3, patience::spin_ns, policy, false},
                                           home.core().chosen().stack_bytes));
    everybody[i].offered = rules->make_offer();
  }
  worker& waiter = everybody[0];
  worker& thief = everybody[1];
  worker& third = everybody[2];

  account ran(3);
  platform::atomic<bool> child_begun{false};
  platform::atomic<bool> r_begun{false};
  platform::atomic<bool> waiter_done{false};
  platform::atomic<bool> thief_done{false};
  const auto until = [](const platform::atomic<bool>& flag) {
    while (!flag.load(std::memory_order_acquire)) {
      if (detail::self->must_attend(nullptr)) detail::attend(*detail::self);
      platform::pause();
    }
  };
  const auto stranger = [&](std::size_t i) {
    check(detail::self != &waiter, "the waiter runs what is not inside the task it waits for");
    ran.ran(i);
  };
  scripted x([&] {
    both([&] { until(child_begun); },
         [&] {
           child_begun.store(true, std::memory_order_release);
           ran.ran(0);
         });
  });
  scripted q([&] {
    both([&] { until(r_begun); },
         [&] {
           r_begun.store(true, std::memory_order_release);
           stranger(1);
           both([&] { until(waiter_done); }, [&] { stranger(2); });
         });
  });
  in_parallel({[&] {
                 detail::self = &waiter;
                 for (int tries = 0; tries < 8; ++tries) {
                   const auto state = task_state::unpack(x.state.load(std::memory_order_acquire));
                   if (state.status == task_status::taken) {
                     static_cast<void>(rules->help(waiter, {state.thief, state.id}, nullptr));
                   } else if (state.status == task_status::pending) {
                     platform::pause();
                   }
                 }
                 waiter_done.store(true, std::memory_order_release);
                 detail::self = &detail::foreign_worker;
               },
               [&] {
                 detail::self = &thief;
                 thief.run_taken(x, &waiter);
                 thief.run_taken(q, &waiter);
                 thief_done.store(true, std::memory_order_release);
                 detail::self = &detail::foreign_worker;
               },
               [&] {
                 detail::self = &third;
                 while (!thief_done.load(std::memory_order_acquire)) {
                   idle.begin_search(third);
                   if (!rules->acquire(third)) {
                     idle.end_search(third);
                     platform::pause();
                   }
                 }
                 detail::self = &detail::foreign_worker;
               }});
  ran.check_all();
}

}  // namespace

void add_lineage(scenario_list& to) {
  for (const std::string policy : {"lace", "chase_lev", "receiver", "sender"}) {
    to.push_back({policy + "_lineage", "what a waiter may take is never older than what it knows",
                  [=] { explore_lineage(policy, fork_both); }});
  }
  for (const std::string policy : {"lace", "lazy_breadth", "receiver", "sender"}) {
    to.push_back(
        {policy + "_loop_lineage", "the same with pieces of loops", [=] { explore_lineage(policy, loop_both); }});
  }
}

}  // namespace filch::explore
