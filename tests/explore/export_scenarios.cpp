// What a place has inside: export rings, records of tasks, and tasks that are held until futures are ready.
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <filch/detail/place_scope.hpp>
#include <filch/future.hpp>

#include "places/export_rings.hpp"
#include "places/record_pools.hpp"
#include "platform/clock.hpp"
#include "scenario.hpp"
#include "scheduler/poller.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/worker.hpp"

namespace filch::explore {
namespace {

using detail::places::export_rings;
using detail::places::task_record;

/// A task of a ring that says what became of it.
struct ring_task : task_record {
  payload number;
  std::function<void(int)> ran;
};

run_result run_ring_task(task& t, run_by /*who*/) {
  auto& own = static_cast<ring_task&>(t);
  own.ran(own.number.load());
  return run_result::released;
}

/// A scheduler whose idle workers run what is in the rings, and tasks for them.
class ring_pool {
  // Until the workers have ended: one may still run a task when the scenario has seen what it waits for.
  std::vector<ring_task> tasks_;

 public:
  ring_pool(int workers, std::size_t tasks, std::function<void(int)> ran)
      : tasks_(tasks),
        rings(
            workers, [] {}, [this] { pool.core().idle_workers().offered(); }),
        pool(small(workers, "lace", "transitive"), place_hooks{.of = nullptr, .tasks = &rings, .network = nullptr}) {
    for (ring_task& each : tasks_) each.ran = ran;
  }
  /// The task, written by whoever brings it.
  ring_task& task(std::size_t number) {
    ring_task& t = tasks_[number];
    t.run.store(&run_ring_task);
    t.number.store(static_cast<int>(number));
    return t;
  }

  export_rings rings;
  scheduler pool;
};

/// The owner pushes and takes the newest, another worker the oldest; whoever looks at the network brings some, and takes
/// some away.
void explore_rings(int workers, std::size_t pushed, std::size_t arriving) {
  const std::size_t tasks = pushed + arriving + 1;
  account ran(tasks);
  platform::atomic<std::size_t> left{tasks};
  platform::atomic<bool> over{false};
  scheduler* pool = nullptr;
  const auto run = [&](int number) {
    ran.ran(static_cast<std::size_t>(number));
    if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    over.store(true, std::memory_order_seq_cst);
    pool->core().wake_server(pool->core().seat());
  };
  ring_pool all(workers, tasks, run);
  pool = &all.pool;
  in_parallel({[&] {
                 all.pool.run([&] {
                   auto& w = static_cast<worker&>(*self);
                   for (std::size_t i = 0; i < pushed; ++i) all.rings.push(w, all.task(i));
                   all.pool.core().serve(w, over);
                 });
                 check(over.load(std::memory_order_acquire), "it is not over");
                 ran.check_all();
               },
               [&] {
                 for (std::size_t i = pushed; i < tasks; ++i) {
                   if (i + 1 == tasks) {
                     all.rings.arrived_to_stay(all.task(i));
                   } else {
                     all.rings.arrived(all.task(i));
                   }
                   if (task_record* const r = all.rings.take_for_others())
                     run(static_cast<ring_task*>(r)->number.load());
                   static_cast<void>(all.rings.tasks());
                 }
               }});
}

/// A task that a worker pushes must wake another one.
void explore_pushed_wakes() {
  platform::atomic<bool> begun{false};
  ring_pool all(2, 1, [&](int) { begun.store(true, std::memory_order_release); });
  all.pool.run([&] {
    all.rings.push(static_cast<worker&>(*self), all.task(0));
    while (!begun.load(std::memory_order_acquire)) platform::pause();
  });
}

/// Two tasks that come from outside have to meet: they must wake both workers.
void explore_arrivals_wake(bool stay) {
  platform::atomic<int> begun{0};
  ring_pool all(3, 2, [&](int) {
    begun.fetch_add(1, std::memory_order_acq_rel);
    while (begun.load(std::memory_order_acquire) < 2) platform::pause();
  });
  for (std::size_t i = 0; i < 2; ++i) {
    if (stay) {
      all.rings.arrived_to_stay(all.task(i));
    } else {
      all.rings.arrived(all.task(i));
    }
  }
  while (begun.load(std::memory_order_acquire) < 2) platform::pause();
}

/// Records come back from another thread when the owner has no other left.
void explore_records(int givers) {
  constexpr std::size_t in_a_block = 28;  // of large ones
  constexpr std::size_t room = filch::places::most_closure_bytes;
  detail::places::record_pools pools(static_cast<std::size_t>(givers));
  std::vector<task_record*> got;
  for (std::size_t i = 0; i < in_a_block; ++i) got.push_back(&pools.get(0, room));
  std::vector<payload> closures(static_cast<std::size_t>(givers));
  for (std::size_t i = 0; i < closures.size(); ++i) closures[i].store(static_cast<int>(i));
  std::vector<std::function<void()>> parts{[&] {
    // The next one that it gets may be one that was given back: who did has read what was in it.
    for (std::size_t i = 0; i < 2; ++i) {
      task_record& r = pools.get(0, room);
      for (std::size_t k = 0; k < closures.size(); ++k) {
        if (&r == got[k]) closures[k].store(-1);
      }
      r.type.store(nullptr);
    }
  }};
  for (std::size_t i = 1; i <= closures.size(); ++i) {
    parts.emplace_back([&, i] {
      check(closures[i - 1].load() == static_cast<int>(i - 1), "somebody else has the record");
      pools.put(*got[i - 1], i);
    });
  }
  in_parallel(parts);
}

/// A value whose reader has to know of its writer.
struct value {
  explicit value(int v) : of(v) {}
  payload of;
};

/// A task that waits for two futures, which two threads make ready: the group is not over before. It sees what they did
/// before, whether it asks for the values or not.
void explore_held(const options& chosen) {
  scheduler pool(chosen);
  std::vector<promise<value>> makers(2);
  payload sum(0);
  std::array<payload, 2> before{};
  const auto first = makers[0].get_future();
  const auto second = makers[1].get_future();
  in_parallel({[&] {
                 pool.run([&] {
                   const auto group = std::make_unique<task_group>();
                   detail::places::awaiting ready(2);
                   auto& held = held_tasks::hold(*group, [&] {
                     check(before[0].load() == 3 && before[1].load() == 4, "what came before a value got lost");
                     sum.store(first.get().of.load() + second.get().of.load());
                   });
                   const std::vector<future_base*> all{future_access::state(first).get(),
                                                       future_access::state(second).get()};
                   ready.await(held, all);
                   group->wait();
                   check(sum.load() == 3, "a value got lost");
                 });
               },
               [&] {
                 before[0].store(3);
                 makers[0].put(1);
               },
               [&] {
                 before[1].store(4);
                 makers[1].put(2);
               }});
}

/// Several tasks wait for one future.
void explore_one_future(const options& chosen) {
  scheduler pool(chosen);
  promise<value> maker;
  account ran(2);
  const auto later = maker.get_future();
  in_parallel({[&] {
                 pool.run([&] {
                   const auto group = std::make_unique<task_group>();
                   for (std::size_t i = 0; i < 2; ++i) {
                     detail::places::awaiting ready(1);
                     auto& held = held_tasks::hold(*group, [&, i] {
                       check(later.get().of.load() == 7, "a value got lost");
                       ran.ran(i);
                     });
                     const std::vector<future_base*> all{future_access::state(later).get()};
                     ready.await(held, all);
                   }
                   group->wait();
                   ran.check_all();
                 });
               },
               [&] { maker.put(7); }});
}

}  // namespace

void add_exports(scenario_list& to) {
  to.push_back({"rings", "an owner, a worker that takes the oldest, and the network", [] { explore_rings(2, 2, 1); }});
  to.push_back({"rings_arrivals", "more from outside", [] { explore_rings(2, 1, 2); }});
  to.push_back({"rings_pushed_wakes", "a pushed task that must wake a worker", [] { explore_pushed_wakes(); }});
  to.push_back(
      {"rings_arrivals_wake", "two arrivals that must wake two workers", [] { explore_arrivals_wake(false); }});
  to.push_back({"rings_bodies_wake", "the same with tasks that must run here", [] { explore_arrivals_wake(true); }});
  to.push_back({"records", "records that another thread gives back", [] { explore_records(1); }});
  to.push_back({"records_of_two", "records that two other threads give back", [] { explore_records(2); }});
  to.push_back({"held", "a task that waits for two futures", [] { explore_held(small(1, "lace", "transitive")); }});
  to.push_back(
      {"held_two_workers", "the same with another worker", [] { explore_held(small(2, "lace", "transitive")); }});
  to.push_back(
      {"one_future", "two tasks that wait for one future", [] { explore_one_future(small(2, "lace", "transitive")); }});
}

}  // namespace filch::explore
