// Repeated parts: how a task that is stolen says who it is, and what is given while its worker waits.
// docs/protocols/constrained.md.
#include <functional>
#include <memory>
#include <utility>

#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

/// Who has run the nodes of a binary tree, whose children are branches, or tasks of a group.
class tree {
 public:
  tree(std::size_t nodes, bool groups) : owners(nodes, -1), results_(nodes), ran_(nodes), groups_(groups) { run(0); }
  /// All have run, and what they did is seen.
  void check_all() {
    ran_.check_all();
    for (const payload& result : results_) check(result.load() == 1, "a result got lost");
  }

  std::vector<int> owners;

 private:
  void run(std::size_t node) {
    if (node >= owners.size()) return;
    ran_.ran(node);
    owners[node] = this_worker();
    results_[node].store(1);
    const std::size_t first = 2 * node + 1;
    if (first >= owners.size()) return;
    if (groups_) {
      task_group g;
      g.run([this, first] { run(first); });
      g.run([this, first] { run(first + 1); });
      g.wait();
    } else {
      fork_join([this, first] { run(first); }, [this, first] { run(first + 1); });
    }
  }

  std::vector<payload> results_;
  account ran_;
  bool groups_;
};

/// The strict iteration repeats the last one before it, whatever that was.
void explore_tree(const options& chosen, std::size_t nodes, bool groups, unsigned relaxed) {
  scheduler pool(chosen);
  pool.run([&] {
    repeated step(relaxed);
    std::vector<int> expected;
    for (unsigned i = 0; i < relaxed + 2; ++i) {
      tree now = step.run([&] { return tree(nodes, groups); });
      now.check_all();
      check(i <= relaxed || now.owners == expected, "a task ran elsewhere than before");
      expected = now.owners;
    }
  });
}

/// The caller waits for a branch of worker 1, and has to run a branch of that meanwhile. In the first iteration it takes
/// it; in the second one it is given to it, when it may be asleep.
void explore_given_to_a_waiter(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    repeated step(0);
    for (int i = 0; i < 2; ++i) {
      platform::atomic<bool> outer_begun{false};
      platform::atomic<bool> inner_begun{false};
      const auto await = [](platform::atomic<bool>& begun) {
        while (!begun.load(std::memory_order_acquire)) platform::pause();
      };
      step.run([&] {
        fork_join([&] { await(outer_begun); },
                  [&] {
                    outer_begun.store(true, std::memory_order_release);
                    fork_join([&] { await(inner_begun); },
                              [&] {
                                check(this_worker() == 0, "the branch is not the caller's");
                                inner_begun.store(true, std::memory_order_release);
                              });
                  });
      });
    }
  });
}

/// A worker that waits, and is in no iteration itself, is given a task by a strict one inside of what it waits for.
void explore_given_from_inside(const options& chosen) {
  scheduler pool(chosen);
  const auto await = [](platform::atomic<bool>& begun) {
    while (!begun.load(std::memory_order_acquire)) platform::pause();
  };
  pool.run([&] {
    platform::atomic<bool> outer_begun{false};
    platform::atomic<bool> over{false};
    int first = -1;
    fork_join([&] { await(over); },
              [&] {
                fork_join([&] { await(outer_begun); },
                          [&] {
                            outer_begun.store(true, std::memory_order_release);
                            repeated step(0);
                            for (int i = 0; i < 2; ++i) {
                              platform::atomic<bool> begun{false};
                              step.run([&] {
                                fork_join([&] { await(begun); },
                                          [&] {
                                            const int by = this_worker();
                                            check(i == 0 || by == first, "a task ran elsewhere than before");
                                            first = by;
                                            begun.store(true, std::memory_order_release);
                                          });
                              });
                            }
                            over.store(true, std::memory_order_release);
                          });
              });
  });
}

/// In the strict iteration the caller waits for a branch of worker 1 and runs an older one of its own before its turn. In that is
/// a task of a group on the heap, which has no path: what it forks is offered, and the slot of the older branch first.
void explore_offered_as_it_runs(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    repeated step(0);
    step.run([] {
      task_group first;
      first.run([] {
        platform::atomic<bool> begun{false};
        fork_join(
            [&] {
              while (!begun.load(std::memory_order_acquire)) platform::pause();
            },
            [&] { begun.store(true, std::memory_order_release); });
      });
      first.wait();
    });
    platform::atomic<bool> older_begun{false};
    account ran(2);
    step.run([&] {
      fork_join(
          [&] {
            fork_join([] {},
                      [&] {
                        while (this_worker() != 0 && !older_begun.load(std::memory_order_acquire)) platform::pause();
                      });
          },
          [&] {
            older_begun.store(true, std::memory_order_release);
            const auto heap = std::make_unique<task_group>();
            heap->run([&] { fork_join([&] { ran.ran(0); }, [&] { ran.ran(1); }); });
            heap->wait();
          });
    });
    ran.check_all();
  });
}

}  // namespace

void add_constrained(scenario_list& to) {
  const auto with = [](int workers) { return small(workers, "constrained", "transitive"); };
  const auto add = [&](const char* name, const char* about, std::function<void()> body) {
    to.push_back({name, about, std::move(body)});
  };
  add("constrained_tree", "stolen branches are given in the next iteration",
      [=] { explore_tree(with(2), 7, false, 0); });
  add("constrained_groups", "the same with groups", [=] { explore_tree(with(2), 7, true, 0); });
  add("constrained_relaxed", "given, and taken back or stolen", [=] { explore_tree(with(2), 7, false, 1); });
  add("constrained_relaxed_groups", "the same with groups and a third worker",
      [=] { explore_tree(with(3), 7, true, 1); });
  add("constrained_tree_3", "workers that wait for each other", [=] { explore_tree(with(3), 15, false, 0); });
  add("constrained_waiter", "a task is given to a worker that falls asleep in a wait",
      [=] { explore_given_to_a_waiter(with(2)); });
  add("constrained_waiter_outside", "the same, and it is in no iteration itself",
      [=] { explore_given_from_inside(with(3)); });
  add("constrained_own", "a branch that its owner runs in a wait is offered meanwhile",
      [=] { explore_offered_as_it_runs(with(2)); });
}

}  // namespace filch::explore
