// Owners that are interrupted anywhere: docs/protocols/interrupt.md.
#include <memory>
#include <numeric>
#include <optional>

#include "platform/clock.hpp"
#include "platform/interrupt.hpp"
#include "scenario.hpp"
#include "worker/interrupter.hpp"
#include "worker/worker.hpp"

namespace filch::explore {
namespace {

/// Whoever waits for work interrupts at once.
options impatient(const std::string& policy, bool steal_half) {
  options chosen = small(2, policy, "transitive", steal_half);
  chosen.interrupt_after_ns = 1;
  return chosen;
}

/// Two branches, the first of which does not end before the second one has begun elsewhere.
class dependent_branches {
 public:
  void run() {
    fork_join(
        [&] {
          ran_.ran(0);
          while (!begun_.load(std::memory_order_acquire)) platform::pause();
        },
        [&] {
          ran_.ran(1);
          result_.store(1);
          begun_.store(true, std::memory_order_release);
        });
    check_all();
  }
  /// For whoever comes after.
  void check_all() const {
    check(result_.load() == 1, "a result got lost");
    ran_.check_all();
  }

 private:
  account ran_{2};
  payload result_;
  platform::atomic<bool> begun_{false};
};

/// An owner in a task that does not end before another one has been stolen from below it.
void starve(scheduler& pool) {
  dependent_branches branches;
  account ran(1);
  pool.run([&] { fork_join([&] { branches.run(); }, [&] { ran.ran(0); }); });
  branches.check_all();
  ran.check_all();
}

void explore_starvation(const options& chosen) {
  scheduler pool(chosen);
  starve(pool);
}

/// The same once more, when the others may have fallen asleep in between; and with an owner that may look in vain.
void explore_starvation_again(options chosen) {
  if (chosen.policy == "sender") chosen.deal_interval_ns = 200'000;
  scheduler pool(chosen);
  starve(pool);
  starve(pool);
}

/// The same with an iteration, and the rest of its loop.
void explore_starved_loop(const options& chosen) {
  scheduler pool(chosen);
  account ran(2);
  platform::atomic<bool> begun{false};
  pool.run([&] {
    parallel_for(0, 2, [&](int i) {
      parallel_for(0, 1, [](int) {});  // so that iterations are chunks
      ran.ran(static_cast<std::size_t>(i));
      if (i == 1) begun.store(true, std::memory_order_release);
      while (!begun.load(std::memory_order_acquire)) platform::pause();
    });
  });
  ran.check_all();
}

/// A detached task that does not end before a part of it has run elsewhere; its group's waiter may sleep by then.
void explore_starved_group(const options& chosen) {
  scheduler pool(chosen);
  dependent_branches branches;
  pool.run([&] {
    const auto group = std::make_unique<task_group>();
    group->run([&] { branches.run(); });
    group->wait();
    branches.check_all();
  });
}

/// The same in one of two units whose end is counted.
void explore_starved_units(const options& chosen) {
  struct units {
    dependent_branches* branches;
    std::size_t first;
    std::size_t last;
    bool step(std::size_t /*budget*/) {
      if (first == 1) branches->run();
      return ++first != last;
    }
    std::optional<units> split() { return upper_half(*this); }
  };
  scheduler pool(chosen);
  dependent_branches branches;
  pool.run([&] {
    adaptive(units{&branches, 0, 2}, {.budget = 1, .end = termination::counted});
    branches.check_all();
  });
}

/// An owner that was calm, and left, begins again. Somebody asks it meanwhile, and may believe that it has nothing;
/// then it looks at its first push.
void explore_asked_at_beginning() {
  scheduler pool(impatient("lace", false));
  pool.run([&] {
    auto& owner = static_cast<worker&>(*detail::self);
    owner.calm();
    owner.note_nothing();
    bool looks = false;
    bool believed = false;
    in_parallel({[&] {
                   owner.begin_work();
                   looks = owner.must_attend(nullptr);
                 },
                 [&] {
                   owner.ask();
                   believed = owner.common.interrupter.due(owner) == interrupter::never;
                 }});
    check(looks || !believed, "a worker that was asked neither looks nor is interrupted");
  });
}

/// No interrupts. A task that waits for one which was pushed after the last theft: that has to be on offer.
void explore_next_on_offer(const options& chosen) {
  scheduler pool(chosen);
  dependent_branches branches;
  account ran(1);
  platform::atomic<bool> stolen{false};
  pool.run([&] {
    fork_join(
        [&] {
          while (!stolen.load(std::memory_order_acquire)) platform::pause();
          branches.run();
        },
        [&] {
          ran.ran(0);
          stolen.store(true, std::memory_order_release);
        });
  });
  ran.check_all();
}

/// A worker that is interrupted again and again while it runs the program, and asked for work each time.
void explore_interrupted(const options& chosen, const std::function<void()>& program) {
  scheduler pool(chosen);
  pool.run([&] {
    auto& owner = static_cast<worker&>(*detail::self);
    const platform::thread_id thread = platform::current_thread();
    platform::thread meddler(0, [&] {
      for (int i = 0; i < 6; ++i) {
        owner.ask();
        platform::interrupt(thread);
        platform::pause();
      }
    });
    program();
    meddler.join();
  });
}

void fork(account& ran, std::vector<payload>& results, std::size_t low, std::size_t high) {
  if (high - low == 1) {
    ran.ran(low);
    results[low].store(static_cast<int>(low));
    return;
  }
  const std::size_t middle = std::midpoint(low, high);
  fork_join([&] { fork(ran, results, low, middle); }, [&] { fork(ran, results, middle, high); });
  for (std::size_t i = low; i < high; ++i) check(results[i].load() == static_cast<int>(i), "a result got lost");
}

void run_forks() {
  account ran(6);
  std::vector<payload> results(6);
  fork(ran, results, 0, 6);
  ran.check_all();
}

/// Groups in branches, one inside of another, and one that outlives the branch that it was filled in.
void run_groups() {
  account ran(9);
  std::vector<payload> results(9);
  const auto task = [&](std::size_t i) {
    return [&, i] {
      ran.ran(i);
      results[i].store(1);
    };
  };
  task_group outer;
  outer.run(task(0));
  outer.run([&] {
    task_group inner;
    inner.run(task(1));
    inner.run(task(2));
    inner.wait();
    fork_join(task(3), task(4));
  });
  outer.run(task(5));
  outer.wait();
  fork_join(
      [&] {
        task_group inner;
        inner.run(task(6));
        inner.wait();
      },
      task(7));
  outer.run(task(8));
  outer.wait();
  for (const auto& result : results) check(result.load() == 1, "a result got lost");
  ran.check_all();
}

/// Iterations that are chunks, and chunks of several.
void run_loops() {
  account ran(10);
  std::vector<payload> results(10);
  const auto iteration = [&](std::size_t i) {
    ran.ran(i);
    results[i].store(1);
  };
  parallel_for(std::size_t{0}, std::size_t{2},
               [&](std::size_t i) { parallel_for(5 * i, 5 * i + 5, [&](std::size_t k) { iteration(k); }); });
  for (const auto& result : results) check(result.load() == 1, "a result got lost");
  ran.check_all();
}

/// Items of a bag, which an interrupt leaves alone, with forks in them, which it does not.
void run_bag() {
  account ran(6);
  const std::vector<std::size_t> first{0};
  for_each_dynamic(first.begin(), first.end(), [&](std::size_t i, feeder<std::size_t>& more) {
    if (i == 0) more.push(1);
    if (i == 0) more.push(2);
    fork_join([&] { ran.ran(2 * i); }, [&] { ran.ran(2 * i + 1); });
  });
  ran.check_all();
}

struct program {
  const char* name;
  const char* about;
  void (*run)();
};

}  // namespace

void add_interrupts(scenario_list& to) {
  to.push_back({"asked_at_beginning", "an owner that is asked while it begins a task", &explore_asked_at_beginning});
  to.push_back({"lace_next_on_offer", "a task that waits for one which was pushed after the last theft",
                [] { explore_next_on_offer(small(2, "lace", "transitive")); }});
  for (const std::string policy : {"lace", "receiver", "receiver_blocking", "sender"}) {
    to.push_back({policy + "_starved", "a task that waits for one that only an interrupt can hand over",
                  [=] { explore_starvation(impatient(policy, false)); }});
    to.push_back({policy + "_starved_loop", "the same with iterations of a loop",
                  [=] { explore_starved_loop(impatient(policy, true)); }});
    to.push_back({policy + "_starved_group", "the same in a detached task, whose group is waited for",
                  [=] { explore_starved_group(impatient(policy, false)); }});
    to.push_back({policy + "_starved_units", "the same in an adaptive task whose end is counted",
                  [=] { explore_starved_units(impatient(policy, false)); }});
    to.push_back({policy + "_starved_again", "a task that waits for one, twice, with dates that are far apart",
                  [=] { explore_starvation_again(impatient(policy, false)); }});
    for (const program& each :
         {program{"forks", "fork_join", &run_forks}, program{"groups", "groups", &run_groups},
          program{"loops", "nested loops", &run_loops}, program{"bag", "a bag with forks in its items", &run_bag}}) {
      to.push_back({policy + "_interrupted_" + each.name, std::string("an owner interrupted anywhere in ") + each.about,
                    [=] { explore_interrupted(impatient(policy, policy == "lace"), each.run); }});
    }
  }
}

}  // namespace filch::explore
