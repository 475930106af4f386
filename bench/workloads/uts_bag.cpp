// uts_bag: Unbalanced Tree Search as the benchmark's own chunk schedulers do it (lazy-scheduling paper, section 8): the
// nodes that wait are a bag, from which each worker takes the newest. Iterative: the deepest trees need no stack.
//
// A size is a tree as that of uts and, behind it, how the bag is shared: "T3L", "T3L/lazy_splitter",
// "T3L/eager_chunker/8". A node's children are computed when it is visited, as they are in the benchmark.
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <filch/filch.hpp>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "uts_search.hpp"
#include "uts_tree.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

// Counts of one run, in a place of its own for each thread. (On the virtual machine all workers are one thread.)
class thread_counts {
 public:
  thread_counts() : run_(++runs) {}

  uts_counts& mine() {
    if (mine_of.run != run_) mine_of = {run_, &add_place()};
    return *mine_of.counts;
  }

  /// When no thread counts any more.
  uts_counts total() const {
    uts_counts sum;
    for (const place& each : places_) {
      sum.nodes += each.counts.nodes;
      sum.leaves += each.counts.leaves;
      sum.depth = std::max(sum.depth, each.counts.depth);
    }
    return sum;
  }

 private:
  struct alignas(64) place {
    uts_counts counts;
  };
  struct place_of_thread {
    std::uint64_t run;
    uts_counts* counts;
  };

  uts_counts& add_place() {
    const std::lock_guard lock(mutex_);
    return places_.emplace_back().counts;
  }

  static inline std::atomic<std::uint64_t> runs{0};
  static inline thread_local place_of_thread mine_of{0, nullptr};

  const std::uint64_t run_;
  std::mutex mutex_;
  std::deque<place> places_;  // which do not move
};

template <class Peer>
uts_counts search(const uts_tree& tree, sharing how) {
  thread_counts counts;
  Peer::for_each_dynamic(
      tree.root(),
      [&](const uts_node& node, auto&& push) {
        charge_visit(node);
        uts_counts& here = counts.mine();
        const int children = node.children();
        ++here.nodes;
        if (children == 0) ++here.leaves;
        here.depth = std::max(here.depth, static_cast<std::uint64_t>(node.depth));
        for (int i = 0; i < children; ++i) push(node.child(static_cast<std::uint32_t>(i)));
      },
      how);
  return counts.total();
}

struct named_way {
  std::string_view name;
  bag_kind kind;
};

constexpr std::array ways{
    named_way{"standard", bag_kind::standard},           named_way{"eager_chunker", bag_kind::eager_chunker},
    named_way{"naive_lazy", bag_kind::naive_lazy},       named_way{"steal_half", bag_kind::steal_half},
    named_way{"lazy_splitter", bag_kind::lazy_splitter},
};

// Takes the last part of a size off. Nothing if it has one part only.
std::string_view take_last(std::string_view& size) {
  const std::size_t slash = size.rfind('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view last = size.substr(slash + 1);
  size = size.substr(0, slash);
  return last;
}

// Takes how the bag is shared off the end of a size, and leaves the tree.
sharing take_sharing(std::string_view& size) {
  const size_context context{"uts_bag", size, "T1/lazy_splitter/8"};
  sharing how;
  std::string_view tree = size;
  std::string_view last = take_last(tree);
  std::optional<std::string_view> chunk;
  // No part of a tree begins with a digit or a sign, and no tree ends with an empty part.
  if (tree != size && (last.empty() || std::isalpha(static_cast<unsigned char>(last.front())) == 0)) {
    chunk = last;
    last = take_last(tree);
  }
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const named_way& way) { return way.name == last; });
  if (found == ways.end()) {
    if (chunk) reject_size(context, fmt::format("has a chunk '{}', but no way to share before it", *chunk));
    return how;  // all of it is a tree
  }
  how.kind = found->kind;
  if (chunk) {
    if (how.kind == bag_kind::standard) reject_size(context, "has a chunk, which the way 'standard' has not");
    constexpr std::int64_t largest = 1'000'000'000;
    how.chunk = static_cast<std::size_t>(parse_whole(context, *chunk, 1, largest));
  }
  size = tree;
  return how;
}

class uts_bag_instance final : public uts_search {
 public:
  uts_bag_instance(const uts_named_tree& of, sharing how) : uts_search(of), how_(how) {}

  // One item for each node.
  std::uint64_t tasks() const override { return expected().nodes; }

 private:
  uts_counts search_all(runner on) override {
    return with_peer(on, [&]<class Peer>() { return search<Peer>(tree(), how_); });
  }

  sharing how_;
};

std::unique_ptr<instance> make_uts_bag(std::string_view size) {
  const sharing how = take_sharing(size);
  return std::make_unique<uts_bag_instance>(find_uts_tree("uts_bag", size), how);
}

}  // namespace

workload uts_bag_workload() {
  std::vector<std::string> sizes{"T1"};
  for (const named_way& way : ways) {
    const bool has_chunks = way.kind != bag_kind::standard;
    sizes.push_back(fmt::format("T3L/{}{}", way.name, has_chunks ? "/8" : ""));
  }
  sizes.emplace_back("bin/b0=200/q=0.2/m=4/seed=1/lazy_splitter/2");
  return {"uts_bag",    "uts with a bag of nodes: a tree of uts and, behind it, how the bag is shared",
          "T1",         std::move(sizes),
          make_uts_bag, "bin/b0=2000/q=0.1999/m=5/seed=6"};
}

}  // namespace filch::bench
