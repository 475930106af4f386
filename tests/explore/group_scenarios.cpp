#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "platform/clock.hpp"
#include "platform/thread.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

void explore_group(const options& chosen, std::size_t tasks) {
  scheduler pool(chosen);
  account ran(tasks);
  std::vector<payload> results(tasks);
  pool.run([&] {
    task_group group;
    for (std::size_t i = 0; i < tasks; ++i) {
      group.run([&, i] {
        ran.ran(i);
        results[i].store(static_cast<int>(i));
      });
    }
    check(group.wait() == group_status::complete, "a group is cancelled that nobody cancelled");
    for (std::size_t i = 0; i < tasks; ++i) check(results[i].load() == static_cast<int>(i), "a result got lost");
  });
  ran.check_all();
}

/// Tasks for a group on the heap go there as well, and idle workers take them from there.
void explore_detached(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  payload results[3];
  pool.run([&] {
    const auto on_heap = std::make_unique<task_group>();
    task_group& outer = *on_heap;
    const auto add = [&](std::size_t i) {
      outer.run([&, i] {
        ran.ran(i);
        results[i].store(1);
      });
    };
    fork_join([&] { add(0); },
              [&] {
                add(1);
                add(2);
              });
    outer.wait();
    for (const auto& result : results) check(result.load() == 1, "a result got lost");
  });
  ran.check_all();
}

/// A group of two threads that are no workers.
void explore_foreign_group(const options& chosen) {
  scheduler pool(chosen);
  account ran(2);
  payload results[2];
  std::optional<task_group> group;
  pool.run([&] { group.emplace(); });
  const auto add = [&](std::size_t i) {
    pool.run([&] {
      group->run([&, i] {
        ran.ran(i);
        results[i].store(1);
      });
    });
  };
  in_parallel({[&] { add(0); }, [&] { add(1); }});
  pool.run([&] { group->wait(); });
  for (const auto& result : results) check(result.load() == 1, "a result got lost");
  ran.check_all();
  pool.run([&] { group.reset(); });
}

/// A guest adds a task to a group while its owner waits for it.
void explore_late_run(const options& chosen) {
  scheduler pool(chosen);
  account ran(1);
  payload result(0);
  pool.run([&] {
    task_group group;
    platform::thread guest(0, [&] {
      pool.run([&] {
        group.run([&] {
          ran.ran(0);
          result.store(1);
        });
      });
    });
    group.wait();
    guest.join();
    group.wait();
    check(result.load() == 1, "a result got lost");
  });
  ran.check_all();
}

void explore_cancel(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  int after = 0;
  pool.run([&] {
    task_group group;
    bool waited = false;
    for (std::size_t i = 0; i < 3; ++i) {
      group.run([&, i] {
        ran.ran(i);
        check(!waited, "a task outlives its group's wait");
        if (i == 1) group.cancel();
      });
    }
    const group_status status = group.wait();
    waited = true;
    check((status == group_status::canceled) == ran.has_run(1), "the status is wrong");
    group.run([&] { ++after; });
    check(group.wait() == group_status::complete && after == 1, "a group cannot be used again");
  });
}

void explore_group_exceptions(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  pool.run([&] {
    task_group group;
    for (std::size_t i = 0; i < 3; ++i) {
      group.run([&, i] {
        ran.ran(i);
        if (i != 1) throw std::runtime_error(std::to_string(i));
      });
    }
    bool caught = false;
    try {
      group.wait();
    } catch (const std::runtime_error& e) {
      caught = std::string(e.what()) == "0";
    }
    check(caught, "the exception is not the first task's");
  });
  ran.check_all();
}

/// A task on the stack, taken by a thief or not, adds tasks to its own group; two that come late as well.
void explore_growing(const options& chosen) {
  scheduler pool(chosen);
  account ran(5);
  payload results[5];
  pool.run([&] {
    task_group group;
    const auto add = [&](std::size_t i, auto then) {
      group.run([&, i, then] {
        ran.ran(i);
        results[i].store(1);
        then();
      });
    };
    const auto nothing = [] {};
    add(0, [&] {
      add(1, nothing);
      add(2, [&] {
        add(3, nothing);
        add(4, nothing);
      });
    });
    group.wait();
    for (const auto& result : results) check(result.load() == 1, "a result got lost");
  });
  ran.check_all();
}

/// A group inside a task of a group, on whatever stack that runs.
void explore_nested(const options& chosen) {
  scheduler pool(chosen);
  account ran(6);
  payload results[6];
  pool.run([&] {
    task_group outer;
    for (std::size_t i = 0; i < 2; ++i) {
      outer.run([&, i] {
        task_group inner;
        for (std::size_t k = 1; k < 3; ++k) {
          inner.run([&, k] {
            ran.ran(3 * i + k);
            results[3 * i + k].store(1);
          });
        }
        ran.ran(3 * i);
        inner.wait();
        results[3 * i].store(results[3 * i + 1].load() + results[3 * i + 2].load());
      });
    }
    outer.wait();
    check(results[0].load() == 2 && results[3].load() == 2, "a result got lost");
  });
  ran.check_all();
}

/// A task of a group on the heap has such a group itself: its tasks are parts of what the outer group's waiter waits
/// for.
void explore_group_in_group(const options& chosen) {
  scheduler pool(chosen);
  account ran(7);
  payload results[7];
  pool.run([&] {
    const auto outer = std::make_unique<task_group>();
    for (std::size_t i = 0; i < 2; ++i) {
      outer->run([&, i] {
        const auto inner = std::make_unique<task_group>();
        for (std::size_t k = 1; k < 3; ++k) {
          inner->run([&, i, k] {
            ran.ran(3 * i + k);
            results[3 * i + k].store(1);
          });
        }
        inner->wait();
        results[3 * i].store(results[3 * i + 1].load() + results[3 * i + 2].load());
        ran.ran(3 * i);
      });
    }
    outer->wait();
    check(results[0].load() == 2 && results[3].load() == 2, "a result got lost");
    outer->run([&] { ran.ran(6); });
    outer->wait();
  });
  ran.check_all();
}

/// A waiter of a group on the heap runs nothing but what belongs to that group: not the task whose lock it holds.
void explore_strangers(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  platform::mutex held;
  pool.run([&] {
    const auto mine = std::make_unique<task_group>();
    const auto other = std::make_unique<task_group>();
    for (std::size_t i = 0; i < 2; ++i) {
      other->run([&, i] {
        const std::lock_guard lock(held);
        ran.ran(i);
      });
      mine->run([&, i] { ran.ran(2 + i); });
    }
    {
      const std::lock_guard lock(held);
      mine->wait();
    }
    other->wait();
  });
  ran.check_all();
}

/// The wait for one group holds a lock that tasks of a newer one want, whoever has taken those.
void explore_locked_wait(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  pool.run([&] {
    platform::mutex lock;
    task_group older;
    older.run([&] { ran.ran(0); });
    task_group newer;
    for (std::size_t i = 1; i < 3; ++i) {
      newer.run([&, i] {
        const std::lock_guard held(lock);
        ran.ran(i);
      });
    }
    {
      const std::lock_guard held(lock);
      older.wait();
      check(ran.has_run(0), "a group was not waited for");
    }
    newer.wait();
  });
  ran.check_all();
}

/// A branch leaves tasks of a group above the slot that is joined, under a lock that these want.
void explore_left_behind(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  payload results[3];
  pool.run([&] {
    platform::mutex lock;
    std::optional<task_group> outer;
    {
      std::unique_lock held(lock, std::defer_lock);
      fork_join(
          [&] {
            outer.emplace();
            for (std::size_t i = 0; i < 2; ++i) {
              outer->run([&, i] {
                const std::lock_guard mine(lock);
                ran.ran(i);
                results[i].store(1);
              });
            }
            held.lock();
          },
          [&] {
            ran.ran(2);
            results[2].store(1);
          });
      check(results[2].load() == 1, "a result got lost");
    }
    outer->wait();
    check(results[0].load() == 1 && results[1].load() == 1, "a result got lost");
  });
  ran.check_all();
}

/// Tasks of two groups in turn, waited for in a branch and out of order; what is left in the slots is used again.
void explore_in_place(const options& chosen) {
  scheduler pool(chosen);
  account ran(6);
  pool.run([&] {
    task_group first;
    task_group second;
    for (std::size_t i = 0; i < 2; ++i) {
      first.run([&, i] { ran.ran(i); });
      second.run([&, i] { ran.ran(2 + i); });
    }
    fork_join(
        [&] {
          first.wait();
          check(ran.has_run(0) && ran.has_run(1), "a group was not waited for");
        },
        [&] { ran.ran(4); });
    second.wait();
    fork_join([] {}, [&] { ran.ran(5); });
  });
  ran.check_all();
}

/// A closure that forks when it is copied, and again when it ends.
struct forking_closure {
  account* ran;
  std::size_t number;
  forking_closure(account& to, std::size_t task) : ran(&to), number(task) {}
  forking_closure(const forking_closure& from) : ran(from.ran), number(from.number) {
    fork_join([] {}, [] {});
  }
  forking_closure& operator=(const forking_closure&) = delete;
  ~forking_closure() {
    fork_join([] {}, [] {});
  }
  void operator()() const { ran->ran(number); }
};

void explore_built_closures(const options& chosen) {
  scheduler pool(chosen);
  account ran(2);
  pool.run([&] {
    task_group group;
    group.run(forking_closure(ran, 0));
    group.run(forking_closure(ran, 1));
    group.wait();
  });
  ran.check_all();
}

/// Threads outside fill a group each, and wait for it: they share a queue with each other and with a worker's visits.
void explore_outside(const options& chosen) {
  scheduler pool(chosen);
  constexpr std::size_t each = 3;
  account ran(2 * each);
  payload results[2 * each];
  std::optional<task_group> groups[2];
  const auto add = [&](std::size_t i) {
    groups[i / each]->run([&, i] {
      ran.ran(i);
      results[i].store(1);
    });
  };
  // A group is the scheduler's in which it first has tasks.
  pool.run([&] {
    for (std::size_t g = 0; g < 2; ++g) {
      groups[g].emplace();
      add(each * g);
    }
  });
  const auto use = [&](std::size_t g) {
    for (std::size_t i = 1; i < each; ++i) add(each * g + i);
    groups[g]->wait();
    for (std::size_t i = 0; i < each; ++i) check(results[each * g + i].load() == 1, "a result got lost");
    groups[g].reset();
  };
  in_parallel({[&] { use(0); }, [&] { use(1); }});
  ran.check_all();
}

}  // namespace

void add_groups(scenario_list& to) {
  for (const std::string policy : {"lace", "chase_lev", "receiver", "sender"}) {
    to.push_back({policy + "_group", "a group of three tasks, three workers",
                  [=] { explore_group(small(3, policy, "transitive"), 3); }});
    to.push_back({policy + "_group_detached", "tasks for a group on the heap",
                  [=] { explore_detached(small(3, policy, "transitive")); }});
    to.push_back({policy + "_group_growing", "a group that a task of it fills",
                  [=] { explore_growing(small(2, policy, "transitive")); }});
    to.push_back({policy + "_group_nested", "groups in tasks of groups",
                  [=] { explore_nested(small(2, policy, "transitive")); }});
    to.push_back({policy + "_group_locked_wait", "a wait under a lock that newer tasks want",
                  [=] { explore_locked_wait(small(3, policy, "transitive")); }});
    to.push_back({policy + "_group_left_behind",
                  "a branch is joined below tasks of a group, under a lock that they want",
                  [=] { explore_left_behind(small(3, policy, "transitive")); }});
    to.push_back({policy + "_group_in_place", "groups filled in turn, waited for in a branch",
                  [=] { explore_in_place(small(2, policy, "transitive")); }});
    to.push_back({policy + "_group_built", "closures that fork when they are copied and when they end",
                  [=] { explore_built_closures(small(2, policy, "transitive")); }});
  }
  for (const std::string policy : {"lace", "receiver", "sender"}) {
    to.push_back({policy + "_group_half", "a group of eight tasks, thieves that get half",
                  [=] { explore_group(small(3, policy, "transitive", true), 8); }});
    to.push_back({policy + "_group_in_place_half", "groups filled in turn, thieves that get half",
                  [=] { explore_in_place(small(2, policy, "transitive", true)); }});
    to.push_back({policy + "_group_left_behind_half",
                  "a branch is joined below tasks of a group, thieves that get half",
                  [=] { explore_left_behind(small(3, policy, "transitive", true)); }});
  }
  to.push_back({"standard_group_kept", "a group of eight tasks, thieves that take several and keep them",
                [] { explore_group(small(3, "standard", "transitive"), 8); }});
  to.push_back({"standard_group_in_place_kept", "groups filled in turn, thieves that take several and keep them",
                [] { explore_in_place(small(2, "standard", "transitive")); }});
  to.push_back({"standard_group_left_behind_kept",
                "a branch is joined below tasks of a group, thieves that take several and keep them",
                [] { explore_left_behind(small(3, "standard", "transitive")); }});
  for (const int workers : {1, 2, 3}) {
    const std::string n = std::to_string(workers);
    to.push_back({"group_in_group_" + n, "groups on the heap in tasks of such, workers: " + n,
                  [=] { explore_group_in_group(small(workers, "lace", "transitive")); }});
    to.push_back({"group_outside_" + n, "groups of two threads outside, workers: " + n,
                  [=] { explore_outside(small(workers, "lace", "transitive")); }});
    to.push_back({"group_strangers_" + n,
                  "two groups on the heap, tasks of one want the other's waiter's lock, workers: " + n,
                  [=] { explore_strangers(small(workers, "lace", "transitive")); }});
  }
  to.push_back(
      {"group_foreign", "a group that two guests fill", [] { explore_foreign_group(small(2, "lace", "transitive")); }});
  to.push_back({"group_late_run", "a task that a guest adds while the owner waits",
                [] { explore_late_run(small(1, "lace", "transitive")); }});
  to.push_back({"group_cancel", "cancelling from inside", [] { explore_cancel(small(2, "lace", "transitive")); }});
  to.push_back({"group_exceptions", "of several exceptions the first",
                [] { explore_group_exceptions(small(3, "lace", "transitive")); }});
}

}  // namespace filch::explore
