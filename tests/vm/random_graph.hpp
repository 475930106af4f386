// A fork-join computation of random shape, with random costs: what the bound on the time of work stealing speaks of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <filch/vm.hpp>

#include "with_peer.hpp"
#include "workload.hpp"

namespace filch::bench {

/// Work, then perhaps two branches at the same time, then perhaps a part that follows them.
struct graph_part {
  double work_ns;
  std::unique_ptr<graph_part> left{};
  std::unique_ptr<graph_part> right{};
  std::unique_ptr<graph_part> next{};
};

using graph_random = std::mt19937_64;

inline std::size_t count_parts(const std::unique_ptr<graph_part>& part) {
  return part == nullptr ? 0 : 1 + count_parts(part->left) + count_parts(part->right) + count_parts(part->next);
}

/// Of that many parts, each of up to `most_ns`. Every way to divide the parts among branches and what follows may come.
inline std::unique_ptr<graph_part> make_random_graph(std::size_t parts, double most_ns, graph_random& random) {
  if (parts == 0) return nullptr;
  auto part = std::make_unique<graph_part>(graph_part{std::uniform_real_distribution<>(0, most_ns)(random)});
  const std::size_t rest = parts - 1;
  if (rest < 2) {
    part->next = make_random_graph(rest, most_ns, random);
    return part;
  }
  // One in four has a serial part behind it.
  const std::size_t behind = random() % 4 == 0 ? random() % (rest - 1) : 0;
  const std::size_t left = 1 + random() % (rest - behind - 1);
  part->left = make_random_graph(left, most_ns, random);
  part->right = make_random_graph(rest - behind - left, most_ns, random);
  part->next = make_random_graph(behind, most_ns, random);
  return part;
}

/// A full binary tree of forks with all of the work in its leaves.
inline std::unique_ptr<graph_part> make_full_tree(int depth, double leaf_ns) {
  auto part = std::make_unique<graph_part>(graph_part{depth == 0 ? leaf_ns : 0});
  if (depth > 0) {
    part->left = make_full_tree(depth - 1, leaf_ns);
    part->right = make_full_tree(depth - 1, leaf_ns);
  }
  return part;
}

/// As a workload. What it computes is how many of its parts ran.
class graph_instance final : public instance {
 public:
  explicit graph_instance(std::unique_ptr<graph_part> root) : root_(std::move(root)), parts_(count_parts(root_)) {}

  void run(runner on) override {
    ran_ = with_peer(on, [&]<class Peer>() { return run_part<Peer>(*root_); });
  }
  std::string result() const override { return std::to_string(ran_); }
  bool verify() const override { return ran_ == parts_; }
  std::uint64_t tasks() const override { return parts_; }

  const graph_part& root() const { return *root_; }

 private:
  template <class Peer>
  static std::size_t run_part(const graph_part& part) {
    vm::charge(part.work_ns);
    std::size_t ran = 1;
    if (part.left != nullptr) {
      const auto [left, right] =
          Peer::fork_join([&] { return run_part<Peer>(*part.left); }, [&] { return run_part<Peer>(*part.right); });
      ran += left + right;
    }
    if (part.next != nullptr) ran += run_part<Peer>(*part.next);
    return ran;
  }

  std::unique_ptr<graph_part> root_;
  std::size_t parts_;
  std::size_t ran_ = 0;
};

}  // namespace filch::bench
