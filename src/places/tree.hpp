// A collective operation of all places: what they contribute is combined up a binary tree of places, and the result sent
// down. Again and again, in the same order everywhere. Nobody waits: each place contributes when it can, and sees the
// result later.
//
// Thread safety: one thread at a time, the one that looks at the network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "places/network.hpp"

namespace filch::detail::places {

class tree {
 public:
  /// Adds a second contribution, of the same size, to the first.
  using combine = std::function<void(std::span<std::byte> first, std::span<const std::byte> second)>;

  /// `channel`: this tree's number, the same at all places.
  tree(network& over, std::uint8_t channel) noexcept : net_(over), channel_(channel) {}

  /// What this place has for the next operation. `by` is the same at all places.
  void contribute(std::vector<std::byte> own, combine by);
  /// A message of this tree's channel.
  void handle(const message& m);
  /// The result of the last contribution, once.
  [[nodiscard]] std::optional<std::vector<std::byte>> result();

 private:
  [[nodiscard]] int child(int which) const noexcept { return 2 * net_.place() + 1 + which; }
  [[nodiscard]] int children() const noexcept;
  void pass_on_if_complete();
  void send(int to, message_kind kind, std::span<const std::byte> contents);
  void finish(std::span<const std::byte> result);

  network& net_;
  const std::uint8_t channel_;
  combine by_;
  bool contributed_ = false;
  std::vector<std::byte> sum_;
  std::array<std::vector<std::byte>, 2> from_children_;  ///< combined in the order of places, whoever comes first
  int came_ = 0;
  std::optional<std::vector<std::byte>> result_;
};

}  // namespace filch::detail::places
