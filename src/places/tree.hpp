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

  /// What this place has for the next operation. `by` is the same at all places. `finish`: the message's.
  void contribute(std::vector<std::byte> own, combine by, std::uint32_t finish = 0);
  /// A message of this tree's channel.
  void handle(const message& m);
  /// The result of the last contribution, once.
  [[nodiscard]] std::optional<std::vector<std::byte>> result();

  /// This place has contributed, and the result has not come.
  [[nodiscard]] bool is_waiting() const noexcept { return is_waiting_; }
  /// A contribution to an operation to which this place has not contributed.
  struct early {
    int place;
    std::span<const std::byte> contents;
  };
  [[nodiscard]] std::optional<early> early_contribution() const noexcept;

 private:
  [[nodiscard]] int child(int which) const noexcept { return 2 * net_.place() + 1 + which; }
  [[nodiscard]] int children() const noexcept;
  void pass_on_if_complete();
  void send(int to, message_kind kind, std::span<const std::byte> contents, std::uint32_t of_finish = 0);
  void end(std::span<const std::byte> result);

  network& net_;
  const std::uint8_t channel_;
  combine by_;
  bool contributed_ = false;
  std::vector<std::byte> sum_;
  std::array<std::vector<std::byte>, 2> from_children_;  ///< combined in the order of places, whoever comes first
  int came_ = 0;
  int newest_ = -1;  ///< the child that came last
  std::uint32_t finish_ = 0;
  bool is_waiting_ = false;
  std::optional<std::vector<std::byte>> result_;
};

}  // namespace filch::detail::places
