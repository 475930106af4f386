// uts_places: Unbalanced Tree Search at places, as the authors of success-only stealing have it (Kumar and others 2016).
//
// Each worker visits the newest node of a stack of its own. When it has visited ten nodes and holds more than 16, the
// eight oldest become one task that may run at any place. It captures them: nodes know no tree there, since that is
// at another address at each place.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <filch/filch.hpp>
#include <filch/places.hpp>

#include "catalogue.hpp"
#include "place_tasks.hpp"
#include "uts_search.hpp"
#include "uts_tree.hpp"

namespace filch::bench {
namespace {

constexpr std::size_t nodes_per_task = 8;
constexpr std::size_t most_kept = 16;
constexpr int visits_between_tasks = 10;

struct carried_node {
  sha1_digest state;
  std::int32_t depth;
};

/// A task.
struct some_nodes {
  std::array<carried_node, nodes_per_task> nodes;
  void operator()() const;
};
static_assert(sizeof(some_nodes) == nodes_per_task * (20 + 4));

/// The same on a task farm, which begins with the root.
struct farm_task {
  some_nodes below{};
  bool is_root = true;
};

/// A stack whose oldest nodes can be taken off.
class node_stack {
 public:
  [[nodiscard]] std::size_t size() const { return nodes_.size() - first_; }
  void push(const carried_node& node) { nodes_.push_back(node); }
  carried_node pop() {
    const carried_node newest = nodes_.back();
    nodes_.pop_back();
    return newest;
  }
  some_nodes take_oldest() {
    some_nodes taken;
    std::copy_n(nodes_.begin() + static_cast<std::ptrdiff_t>(first_), nodes_per_task, taken.nodes.begin());
    first_ += nodes_per_task;
    // As many are moved as were taken off before, at most.
    if (first_ >= size()) {
      nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return taken;
  }

 private:
  std::vector<carried_node> nodes_;
  std::size_t first_ = 0;  // the oldest
};

/// What a worker has.
struct searcher {
  node_stack stack;
  uts_counts counts;
  int visits = 0;  // since it looked whether there is enough for a task
};

uts_counts sum_of(uts_counts a, const uts_counts& b) {
  return {a.nodes + b.nodes, a.leaves + b.leaves, std::max(a.depth, b.depth)};
}

/// How a search that gives nothing away passes for one that does.
struct keep_all {
  void operator()(const some_nodes& /*oldest*/) const {}
};

class uts_places_instance final : public uts_search {
 public:
  explicit uts_places_instance(const uts_named_tree& of) : uts_search(of) {}

  // What is expected is found when it is asked for, which not every place does.
  void prepare() override { forget(); }

  // One for each node.
  std::uint64_t tasks() const override { return expected().nodes; }

  /// A worker of this place searches below these nodes.
  void search_below(const some_nodes& from) {
    searcher& mine = of_workers_[static_cast<std::size_t>(filch::this_worker())].value;
    for (const carried_node& node : from.nodes) mine.stack.push(node);
    search_stack(mine, [](const some_nodes& oldest) { spawn_anywhere(oldest); });
  }

  void run_on(task_farm& farm) override {
    searcher mine;
    run_tasks(farm, farm_task{}, [&](const farm_task& task) {
      if (!task.is_root) {
        for (const carried_node& node : task.below.nodes) mine.stack.push(node);
      } else {
        push_root(mine);
      }
      search_stack(mine, [&](const some_nodes& oldest) { add_task(farm, farm_task{oldest, false}); });
    });
    std::array sums{mine.counts.nodes, mine.counts.leaves};
    std::array depth{static_cast<double>(mine.counts.depth)};
    farm.combine(sums, depth);
    set_found({sums[0], sums[1], static_cast<std::uint64_t>(depth[0])});
  }

 private:
  uts_counts search_all(runner on) override {
    if (on != runner::filch) {
      searcher alone;
      push_root(alone);
      search_stack(alone, keep_all{});
      return alone.counts;
    }
    place_task.look_up();
    of_workers_.assign(static_cast<std::size_t>(places::workers()), {});
    places::own_pointer() = this;
    places::finish_spmd([&] {
      if (places::here() != 0) return;
      searcher& mine = of_workers_.front().value;
      push_root(mine);
      search_stack(mine, [](const some_nodes& oldest) { spawn_anywhere(oldest); });
    });
    uts_counts here;
    for (const own_line<searcher>& each : of_workers_) here = sum_of(here, each.value.counts);
    return places::all_reduce(here, sum_of);
  }

  void push_root(searcher& mine) const {
    const uts_node root = tree().root();
    mine.stack.push({root.state, root.depth});
  }

  /// Calls give(oldest) with nodes that become a task.
  template <class Give>
  void search_stack(searcher& mine, const Give& give) {
    constexpr bool gives = !std::is_same_v<Give, keep_all>;
    // Written when the stack is empty: pushes might change anything, as far as the compiler knows.
    uts_counts counts = mine.counts;
    int visits = mine.visits;
    visits_to_charge visited;
    while (mine.stack.size() != 0) {
      const carried_node newest = mine.stack.pop();
      const uts_node node{newest.state, newest.depth, &tree()};
      visited.add(node);
      const int children = node.children();
      ++counts.nodes;
      if (children == 0) ++counts.leaves;
      counts.depth = std::max(counts.depth, static_cast<std::uint64_t>(node.depth));
      for (int i = 0; i < children; ++i) {
        mine.stack.push({node.child(static_cast<std::uint32_t>(i)).state, node.depth + 1});
      }
      if (gives && ++visits >= visits_between_tasks) {
        visits = 0;
        visited.charge();
        if (mine.stack.size() > most_kept) give(mine.stack.take_oldest());
      }
    }
    visited.charge();
    mine.counts = counts;
    mine.visits = visits;
  }

  std::vector<own_line<searcher>> of_workers_;
};

void some_nodes::operator()() const { static_cast<uts_places_instance*>(places::own_pointer())->search_below(*this); }

std::unique_ptr<instance> make_uts_places(std::string_view size) {
  return std::make_unique<uts_places_instance>(find_uts_tree("uts_places", size));
}

}  // namespace

workload uts_places_workload() {
  std::vector<std::string> sizes;
  for (const uts_named_tree& tree : uts_named_trees()) sizes.emplace_back(tree.name);
  sizes.emplace_back("bin/b0=200/q=0.2/m=4/seed=1");
  return {"uts_places",
          "uts at places: a stack of nodes for each worker, whose oldest become tasks for any place",
          "T1",
          std::move(sizes),
          make_uts_places,
          "bin/b0=2000/q=0.1999/m=5/seed=6",
          true,
          true};
}

}  // namespace filch::bench
