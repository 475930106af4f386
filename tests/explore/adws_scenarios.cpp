// Tasks that are given to other workers: docs/protocols/adws.md.
#include <functional>
#include <utility>
#include <vector>

#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

/// Both branches run once, wherever, and what they did is seen.
void explore_pair(const options& chosen, int rounds) {
  scheduler pool(chosen);
  pool.run([&] {
    for (int round = 0; round < rounds; ++round) {
      payload first;
      payload second;
      fork_join([&] { first.store(1); }, [&] { second.store(1); });
      check(first.load() + second.load() == 2, "a branch is missing");
    }
  });
}

/// The first branch is run by the other worker, which may be about to fall asleep: nobody else will.
void explore_given_to_a_sleeper(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    for (int round = 0; round < 2; ++round) {
      platform::atomic<bool> begun{false};
      fork_join([&] { begun.store(true, std::memory_order_release); },
                [&] {
                  while (!begun.load(std::memory_order_acquire)) platform::pause();
                });
    }
  });
}

/// Tasks of all places in a range: given to be divided further, given for their own worker, and kept.
void explore_tree(const options& chosen, std::size_t leaves, bool total) {
  scheduler pool(chosen);
  account ran(leaves);
  std::vector<payload> results(leaves);
  const auto tree = [&](const auto& self, std::size_t low, std::size_t high) -> void {
    if (high - low == 1) {
      ran.ran(low);
      results[low].store(1);
      return;
    }
    const std::size_t middle = low + (high - low) / 2;
    if (total) {
      task_group g(2);
      g.run([&] { self(self, low, middle); }, 1);
      g.run([&] { self(self, middle, high); }, 1);
      g.wait();
    } else {
      fork_join([&] { self(self, low, middle); }, [&] { self(self, middle, high); });
    }
  };
  pool.run([&] {
    tree(tree, 0, leaves);
    for (const payload& result : results) check(result.load() == 1, "a result got lost");
  });
  ran.check_all();
}

/// Tasks that are given where they lie, at the wait, and one of which adds to the group.
void explore_group(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  payload results[4];
  pool.run([&] {
    task_group g;
    const auto mark = [&](std::size_t i) {
      ran.ran(i);
      results[i].store(1);
    };
    g.run([&] {
      mark(0);
      g.run([&] { mark(3); });
    });
    g.run([&] { mark(1); });
    g.run([&] { mark(2); });
    g.wait();
    for (const payload& result : results) check(result.load() == 1, "a result got lost");
  });
  ran.check_all();
}

void explore_loop(const options& chosen, int size) {
  scheduler pool(chosen);
  account ran(static_cast<std::size_t>(size));
  pool.run([&] {
    const int sum = parallel_reduce(
        0, size, 0,
        [&](int i) {
          ran.ran(static_cast<std::size_t>(i));
          return i;
        },
        std::plus<>{});
    check(sum == size * (size - 1) / 2, "a sum is wrong");
  });
  ran.check_all();
}

/// What is given, and perhaps taken back, has groups of its own.
void explore_groups_inside(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  pool.run([&] {
    fork_join(
        [&] {
          ran.ran(0);
          task_group g;
          g.run([&] { ran.ran(1); });
          g.wait();
        },
        [&] { ran.ran(2); });
  });
  ran.check_all();
}

/// The exception of the first branch arrives, whoever runs it.
void explore_exceptions(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    int caught = 0;
    try {
      fork_join([] { throw 1; }, [] { throw 2; });
    } catch (int which) {
      caught = which;
    }
    check(caught == 1, "another exception than the first arrived");
  });
}

/// A worker of a range that has become active takes what is left there: it may be about to fall asleep, after it looked
/// and had no right to.
void explore_activation(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    platform::atomic<bool> begun{false};
    task_group g(4);
    // All of the work that there is to share is in what the caller keeps for itself.
    g.run([] {}, 2);
    g.run(
        [&] {
          fork_join(
              [&] {
                while (!begun.load(std::memory_order_acquire)) {
                  fork_join([] {}, [] {});
                  platform::pause();
                }
              },
              [&] { begun.store(true, std::memory_order_release); });
        },
        2);
    g.wait();
  });
}

/// The same of a range in which a worker was given nothing: it is told. Nobody else may take what is there, since what is
/// around that range is being divided still.
void explore_told(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    platform::atomic<bool> begun{false};
    task_group g(4);
    g.run(
        [&] {
          task_group upper_half(2);
          upper_half.run([] {}, 2);
          task_group one;
          one.run([&] { begun.store(true, std::memory_order_release); });
          while (!begun.load(std::memory_order_acquire)) {
            fork_join([] {}, [] {});
            platform::pause();
          }
          one.wait();
          upper_half.wait();
        },
        2);
    while (!begun.load(std::memory_order_acquire)) platform::pause();
    g.wait();
  });
}

/// The root's construct ends while the other worker, which was through with it, falls asleep: it takes what comes next.
void explore_end(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    task_group g(chosen.workers);
    for (int i = 1; i < chosen.workers; ++i) g.run([] {}, 1);
    g.wait();
    platform::atomic<int> begun{0};
    std::vector<int> roots(2);
    for_each_dynamic(roots, [&](int&, feeder<int>&) {
      if (begun.fetch_add(1, std::memory_order_acq_rel) != 0) return;
      while (begun.load(std::memory_order_acquire) != 2) {
        fork_join([] {}, [] {});
        platform::pause();
      }
    });
  });
}

/// Parts of a loop are given to workers of policies that know nothing of places, while these fall asleep; and one of
/// them throws.
void explore_fixed_loop(const options& chosen) {
  scheduler pool(chosen);
  account ran(static_cast<std::size_t>(chosen.workers));
  pool.run([&] {
    payload results[3];
    parallel_for(
        0, chosen.workers,
        [&](int i) {
          ran.ran(static_cast<std::size_t>(i));
          fork_join([] {}, [] {});
          results[i].store(1);
        },
        loop::fixed{});
    for (int i = 0; i < chosen.workers; ++i) check(results[i].load() == 1, "a result got lost");
    int caught = -1;
    try {
      parallel_for(0, chosen.workers, [](int i) { throw i; }, loop::fixed{});
    } catch (int which) {
      caught = which;
    }
    check(caught == 0, "another exception than the first arrived");
  });
  ran.check_all();
}

}  // namespace

void add_adws(scenario_list& to) {
  const auto with = [](int workers, const char* policy) {
    options chosen;
    chosen.workers = workers;
    chosen.policy = policy;
    chosen.stack_bytes = 4096;
    return chosen;
  };
  const auto add = [&](const char* name, const char* about, std::function<void()> body) {
    to.push_back({name, about, std::move(body)});
  };
  add("adws_pair", "take-back against start", [=] { explore_pair(with(2, "adws"), 2); });
  add("adws_nosteal_pair", "a given task and its join", [=] { explore_pair(with(2, "adws_nosteal"), 2); });
  add("adws_sleeper", "a task is given to a worker that falls asleep",
      [=] { explore_given_to_a_sleeper(with(2, "adws_nosteal")); });
  add("adws_tree", "search roots and others", [=] { explore_tree(with(3, "adws"), 4, false); });
  add("adws_nosteal_tree", "search roots and others", [=] { explore_tree(with(3, "adws_nosteal"), 6, false); });
  add("adws_group_tree", "groups with a total", [=] { explore_tree(with(3, "adws"), 4, true); });
  add("adws_nosteal_group_tree", "groups with a total", [=] { explore_tree(with(3, "adws_nosteal"), 4, true); });
  add("adws_group", "a group that is divided at its wait", [=] { explore_group(with(2, "adws")); });
  add("adws_group_3", "a group that is divided at its wait", [=] { explore_group(with(3, "adws")); });
  add("adws_groups_inside", "a given branch with a group", [=] { explore_groups_inside(with(2, "adws")); });
  add("adws_loop", "parts of a loop are given", [=] { explore_loop(with(2, "adws"), 3); });
  add("adws_nosteal_loop", "parts of a loop are given", [=] { explore_loop(with(3, "adws_nosteal"), 4); });
  add("adws_exceptions", "exceptions of given tasks", [=] { explore_exceptions(with(2, "adws")); });
  // Policies differ in what an idle worker is in the middle of.
  for (const char* const policy : {"standard", "receiver_blocking", "sender"}) {
    to.push_back({std::string("fixed_loop_") + policy, "parts of a loop are given to a worker that falls asleep",
                  [=] { explore_fixed_loop(with(2, policy)); }});
  }
  add("fixed_loop_sender_3", "parts of a loop are given to workers that are dealt to",
      [=] { explore_fixed_loop(with(3, "sender")); });
  add("adws_activation", "a range becomes active while one of its workers falls asleep",
      [=] { explore_activation(with(2, "adws")); });
  add("adws_told", "a worker that was given nothing is told of a range, and falls asleep",
      [=] { explore_told(with(4, "adws")); });
  add("adws_end", "the root's construct ends while a worker that was through with it falls asleep",
      [=] { explore_end(with(2, "adws")); });
  add("adws_end_3", "the same where another one of them is yet to be told of the range",
      [=] { explore_end(with(3, "adws")); });
}

}  // namespace filch::explore
