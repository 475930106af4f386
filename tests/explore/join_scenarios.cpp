#include <stdexcept>

#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

/// A binary tree of fork_joins whose nodes are numbered like a heap's. Checks that each node runs once, that what it
/// computes reaches its parent, and that whoever waits runs nothing but descendants of what it waits for.
class tree {
 public:
  tree(std::size_t depth, bool descendants_only)
      : nodes_(std::size_t{1} << depth), ran_(nodes_), sums_(nodes_), awaited_(nodes_), strict_(descendants_only) {}

  int run(std::size_t node = 1) {
    ran_.ran(node - 1);
    const auto* const here = detail::self;
    auto& stack = running_on(here);
    if (strict_ && !stack.empty()) {
      const std::size_t on_behalf_of = awaited_[stack.back()];
      check(on_behalf_of == 0 || is_inside(node, on_behalf_of),
            "task " + std::to_string(node) + " runs in a wait for task " + std::to_string(on_behalf_of));
    }
    stack.push_back(node);
    int sum = static_cast<int>(node);
    if (2 * node + 1 < nodes_) {
      const auto [left, right] = fork_join(
          [&] {
            const int value = run(2 * node);
            awaited_[node] = 2 * node + 1;
            return value;
          },
          [&] { return run(2 * node + 1); });
      awaited_[node] = 0;
      sum += left + right;
      check(sums_[2 * node].load() == left && sums_[2 * node + 1].load() == right, "a result got lost");
    }
    check(detail::self == here, "a task has changed threads");
    sums_[node].store(sum);
    running_on(here).pop_back();
    return sum;
  }
  /// After run().
  void check_all() const {
    for (std::size_t node = 1; node < nodes_; ++node) check(ran_.has_run(node - 1), "a task did not run");
  }

 private:
  static bool is_inside(std::size_t node, std::size_t root) {
    while (node > root) node /= 2;
    return node == root;
  }
  std::vector<std::size_t>& running_on(const detail::worker_core* w) {
    for (auto& [worker, stack] : running_) {
      if (worker == w) return stack;
    }
    return running_.emplace_back(w, std::vector<std::size_t>{}).second;
  }

  std::size_t nodes_;
  account ran_;
  std::vector<payload> sums_;
  std::vector<std::size_t> awaited_;  ///< by each node, 0: none
  std::vector<std::pair<const detail::worker_core*, std::vector<std::size_t>>> running_;
  bool strict_;
};

void explore_tree(const options& chosen, std::size_t depth) {
  scheduler pool(chosen);
  tree t(depth, chosen.join != "random");
  pool.run([&] { t.run(); });
  t.check_all();
}

/// The thief of the only task forks inside of it, so that its owner has something to help with.
void explore_help(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  payload results[4];
  const auto leaf = [&](std::size_t i) {
    ran.ran(i);
    results[i].store(static_cast<int>(i));
  };
  pool.run([&] {
    fork_join([&] { leaf(0); },
              [&] {
                fork_join([&] { leaf(1); }, [&] { fork_join([&] { leaf(2); }, [&] { leaf(3); }); });
                for (int i = 1; i < 4; ++i) check(results[i].load() == i, "a result got lost");
              });
    for (int i = 0; i < 4; ++i) check(results[i].load() == i, "a result got lost");
  });
  ran.check_all();
}

/// The second of two rounds uses the same slots: nothing of the first may come in between.
void explore_rounds(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  payload results[4];
  pool.run([&] {
    for (std::size_t round = 0; round < 2; ++round) {
      const auto leaf = [&](std::size_t i) {
        ran.ran(2 * round + i);
        results[2 * round + i].store(1);
      };
      fork_join([&] { leaf(0); }, [&] { leaf(1); });
      check(results[2 * round + 1].load() == 1, "a result got lost");
    }
  });
  ran.check_all();
}

void explore_exceptions(const options& chosen) {
  scheduler pool(chosen);
  payload result(0);
  bool caught = false;
  pool.run([&] {
    try {
      fork_join([] {},
                [&] {
                  result.store(1);
                  throw std::runtime_error("second");
                });
    } catch (const std::runtime_error& e) {
      caught = std::string(e.what()) == "second";
    }
    check(caught && result.load() == 1, "the exception of a stolen branch got lost");
    caught = false;
    bool running = false;
    try {
      fork_join([&]() -> void { throw std::runtime_error("first"); },
                [&] {
                  running = true;
                  fork_join([] {}, [] {});
                  running = false;
                });
    } catch (const std::runtime_error& e) {
      caught = std::string(e.what()) == "first";
    }
    check(caught, "the exception of the first branch got lost");
    check(!running, "a branch outlives its fork_join");
  });
}

void explore_random(const options& chosen) {
  scheduler pool(chosen);
  tree t(3, false);
  pool.run([&] { t.run(); });
  t.check_all();
}

}  // namespace

void add_joins(scenario_list& to) {
  for (const std::string policy : {"lace", "chase_lev"}) {
    const std::string shortened = policy == "lace" ? "lace" : "chase_lev";
    for (const std::string join : {"transitive", "leapfrog"}) {
      to.push_back({shortened + "_" + join, "three workers in a tree of seven tasks, waits by " + join,
                    [=] { explore_tree(small(3, policy, join), 3); }});
    }
    to.push_back(
        {shortened + "_random", "the same, waits by random", [=] { explore_random(small(3, policy, "random")); }});
    to.push_back({shortened + "_deep", "two workers in a tree of fifteen tasks",
                  [=] { explore_tree(small(2, policy, "transitive"), 4); }});
    to.push_back(
        {shortened + "_help", "an owner that helps its thief", [=] { explore_help(small(3, policy, "transitive")); }});
    to.push_back(
        {shortened + "_rounds", "slots that are used again", [=] { explore_rounds(small(3, policy, "transitive")); }});
    to.push_back({shortened + "_exceptions", "branches that throw, stolen or not",
                  [=] { explore_exceptions(small(2, policy, "transitive")); }});
  }
  to.push_back({"lace_steal_half", "thieves that take half of what is shared",
                [] { explore_tree(small(3, "lace", "transitive", true), 4); }});
}

}  // namespace filch::explore
