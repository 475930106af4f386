#include <stdexcept>

#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

/// How a node of a tree runs its two children.
enum class branching : std::uint8_t { fork_join, loop };

/// A tree of fork_joins, or of loops of two iterations. Checks that each node runs once, that what it computes reaches
/// its parent, and that whoever waits runs nothing but descendants of what it waits for.
class tree {
 public:
  /// Of each node its first child, whose sibling has the next number; 0: a leaf. Node 0 is the root.
  using shape = std::vector<std::size_t>;

  tree(shape first_children, bool descendants_only, branching by)
      : first_child_(std::move(first_children)),
        parent_(first_child_.size()),
        ran_(first_child_.size()),
        sums_(first_child_.size()),
        awaited_(first_child_.size()),
        strict_(descendants_only),
        by_(by) {
    for (std::size_t node = 0; node < first_child_.size(); ++node) {
      const std::size_t child = first_child_[node];
      if (child != 0) parent_[child] = parent_[child + 1] = node;
    }
  }

  int run(std::size_t node = 0) {
    ran_.ran(node);
    const auto* const here = detail::self;
    if (const auto& around = running_on(here); strict_ && !around.empty()) {
      const std::size_t on_behalf_of = awaited_[around.back()];
      check(on_behalf_of == 0 || is_inside(node, on_behalf_of),
            "task " + std::to_string(node) + " runs in a wait for task " + std::to_string(on_behalf_of));
    }
    running_on(here).push_back(node);
    int sum = static_cast<int>(node);
    if (const std::size_t child = first_child_[node]; child != 0) {
      run_children(node, child);
      awaited_[node] = 0;
      sum += sums_[child].load() + sums_[child + 1].load();
    }
    check(detail::self == here, "a task has changed threads");
    sums_[node].store(sum);
    running_on(here).pop_back();
    return sum;
  }
  void check_all() const { ran_.check_all(); }

 private:
  void run_children(std::size_t node, std::size_t child) {
    const auto first = [&] {
      const int value = run(child);
      awaited_[node] = child + 1;
      return value;
    };
    if (by_ == branching::fork_join) {
      const auto [left, right] = fork_join(first, [&] { return run(child + 1); });
      check(sums_[child].load() == left && sums_[child + 1].load() == right, "a result got lost");
    } else {
      parallel_for(0, 2, [&](int i) {
        if (i == 0) {
          first();
        } else {
          run(child + 1);
        }
      });
    }
  }
  [[nodiscard]] bool is_inside(std::size_t node, std::size_t root) const {
    while (node > root) node = parent_[node];
    return node == root;
  }
  std::vector<std::size_t>& running_on(const detail::worker_core* w) {
    for (auto& [worker, stack] : running_) {
      if (worker == w) return stack;
    }
    return running_.emplace_back(w, std::vector<std::size_t>{}).second;
  }

  shape first_child_;
  shape parent_;
  account ran_;
  std::vector<payload> sums_;
  std::vector<std::size_t> awaited_;  ///< by each node, 0: none
  std::vector<std::pair<const detail::worker_core*, std::vector<std::size_t>>> running_;
  bool strict_;
  branching by_;
};

/// Every node has two children, down to the given number of nodes.
tree::shape full(std::size_t nodes) {
  tree::shape first_children(nodes);
  for (std::size_t i = 0; 2 * i + 2 < nodes; ++i) first_children[i] = 2 * i + 1;
  return first_children;
}

/// The second child of each node forks again: what one worker steals, the next steals from.
tree::shape chain(std::size_t links) {
  tree::shape first_children(2 * links + 1);
  for (std::size_t i = 0; i < links; ++i) first_children[2 * i] = 2 * i + 1;
  return first_children;
}

/// A task X beside a chain Q, R, S. While its owner still waits for X, whoever ran X (and was robbed of a child) may
/// run Q, and be robbed of R by one who is robbed of S: none of that is inside X, although it uses the same slots.
tree::shape neighbours() {
  //      0: 1 2     1: 3 4 (X)     2: 5 6 (Q)     4: 7 8     6: 9 10 (R)     10: 11 12 (S)
  return {1, 3, 5, 0, 7, 0, 9, 0, 0, 0, 11, 0, 0};
}

void explore_tree(const options& chosen, const tree::shape& of, branching by = branching::fork_join) {
  scheduler pool(chosen);
  tree t(of, chosen.join != "random", by);
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

}  // namespace

void add_joins(scenario_list& to) {
  for (const std::string policy : {"lace", "chase_lev", "receiver", "receiver_blocking", "sender"}) {
    for (const std::string join : {"transitive", "leapfrog", "random"}) {
      to.push_back({policy + "_" + join, "three workers in a tree of seven tasks",
                    [=] { explore_tree(small(3, policy, join), full(7)); }});
    }
    to.push_back({policy + "_deep", "two workers in a tree of fifteen tasks",
                  [=] { explore_tree(small(2, policy, "transitive"), full(15)); }});
    to.push_back({policy + "_chain", "four workers that steal from one another",
                  [=] { explore_tree(small(4, policy, "transitive"), chain(3)); }});
    to.push_back({policy + "_neighbours", "an awaited task, and others in the slots that it had",
                  [=] { explore_tree(small(3, policy, "transitive"), neighbours()); }});
    to.push_back(
        {policy + "_help", "an owner that helps its thief", [=] { explore_help(small(3, policy, "transitive")); }});
    to.push_back(
        {policy + "_rounds", "slots that are used again", [=] { explore_rounds(small(3, policy, "transitive")); }});
    to.push_back({policy + "_exceptions", "branches that throw, stolen or not",
                  [=] { explore_exceptions(small(2, policy, "transitive")); }});
  }
  for (const std::string policy : {"lace", "chase_lev", "lazy_breadth", "lazy_depth2", "receiver", "sender"}) {
    to.push_back({policy + "_loops", "three workers in a tree of loops",
                  [=] { explore_tree(small(3, policy, "transitive"), full(7), branching::loop); }});
    to.push_back({policy + "_loop_chain", "four workers that take pieces from one another",
                  [=] { explore_tree(small(4, policy, "transitive"), chain(3), branching::loop); }});
    to.push_back({policy + "_loop_nearby", "an awaited piece, and others in the record that it had",
                  [=] { explore_tree(small(3, policy, "transitive"), neighbours(), branching::loop); }});
  }
  for (const std::string join : {"leapfrog", "random"}) {
    to.push_back({"lace_loops_" + join, "three workers in a tree of loops",
                  [=] { explore_tree(small(3, "lace", join), full(7), branching::loop); }});
  }
  for (const std::string policy : {"lazy_breadth", "lazy_depth2"}) {
    to.push_back({policy + "_transitive", "three workers in a tree of seven tasks",
                  [=] { explore_tree(small(3, policy, "transitive"), full(7)); }});
  }
  for (const std::string policy : {"lace", "receiver", "sender"}) {
    to.push_back({policy + "_steal_half", "thieves that get half of all tasks",
                  [=] { explore_tree(small(3, policy, "transitive", true), full(15)); }});
  }
  to.push_back({"standard_kept", "thieves that take several tasks and keep them",
                [] { explore_tree(small(3, "standard", "transitive"), full(15)); }});
}

}  // namespace filch::explore
