// What uts, uts_bag and uts_places have in common: a tree, the counts of its search, and what these have to be.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "uts_tree.hpp"
#include "workload.hpp"

namespace filch::bench {

/// Prices of a visit on the virtual machine, by the rule of the node.
inline vm::work binomial_node("uts_node");
inline vm::work geometric_node("uts_geometric_node");

inline void charge_visit(const uts_node& node) { (node.is_geometric() ? geometric_node : binomial_node).done(); }

/// The same for several visits at once, where nothing that others see happens in between.
class visits_to_charge {
 public:
  void add(const uts_node& node) { ++(node.is_geometric() ? geometric_ : binomial_); }
  void charge() {
    if (geometric_ != 0) geometric_node.done(std::exchange(geometric_, 0));
    if (binomial_ != 0) binomial_node.done(std::exchange(binomial_, 0));
  }

 private:
  int geometric_ = 0;
  int binomial_ = 0;
};

/// Whoever derives from it searches in his own way: search_all() gives the counts.
class uts_search : public instance {
 public:
  void prepare() override {
    forget();
    expected();
  }

  void run(runner on) override {
    binomial_node.look_up();
    geometric_node.look_up();
    found_ = search_all(on);
  }

  std::string result() const override {
    return fmt::format("{} nodes, {} leaves, depth {}", found_.nodes, found_.leaves, found_.depth);
  }

  bool verify() const override { return found_ == expected(); }

 protected:
  explicit uts_search(const uts_named_tree& of) : tree_(of.parameters), expected_(of.published) {}

  void forget() { found_ = {}; }
  void set_found(const uts_counts& found) { found_ = found; }

  const uts_tree& tree() const { return tree_; }

  const uts_counts& expected() const {
    if (!expected_) expected_ = count_nodes(tree_);
    return *expected_;
  }

 private:
  virtual uts_counts search_all(runner on) = 0;

  uts_tree tree_;
  mutable std::optional<uts_counts> expected_;  // counted when first needed, where nobody published it
  uts_counts found_;
};

}  // namespace filch::bench
