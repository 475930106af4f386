#include "places/tree.hpp"

#include <algorithm>
#include <utility>

namespace filch::detail::places {

int tree::children() const noexcept { return std::clamp(net_.places() - child(0), 0, 2); }

void tree::contribute(std::vector<std::byte> own, combine by, std::uint32_t finish) {
  sum_ = std::move(own);
  by_ = std::move(by);
  finish_ = finish;
  contributed_ = true;
  is_waiting_ = true;
  pass_on_if_complete();
}

void tree::handle(const message& m) {
  if (m.kind == message_kind::tree_down) return end(m.contents);
  // A child may be an operation ahead of its parent's own contribution, and not more: it has not seen the result.
  from_children_[static_cast<std::size_t>(m.from - child(0))] = m.contents;
  newest_ = m.from;
  ++came_;
  pass_on_if_complete();
}

void tree::pass_on_if_complete() {
  if (!contributed_ || came_ != children()) return;
  contributed_ = false;
  for (int i = 0; i < came_; ++i) by_(sum_, from_children_[static_cast<std::size_t>(i)]);
  came_ = 0;
  if (net_.place() == 0) {
    end(sum_);
  } else {
    send((net_.place() - 1) / 2, message_kind::tree_up, sum_, finish_);
  }
}

void tree::send(int to, message_kind kind, std::span<const std::byte> contents, std::uint32_t of_finish) {
  message m{.kind = kind, .channel = channel_, .finish = of_finish};
  message_writer(m).add_bytes(contents);
  net_.send(to, std::move(m));
}

void tree::end(std::span<const std::byte> result) {
  is_waiting_ = false;
  for (int i = 0; i < children(); ++i) send(child(i), message_kind::tree_down, result);
  result_.emplace(result.begin(), result.end());
}

std::optional<tree::early> tree::early_contribution() const noexcept {
  if (contributed_ || came_ == 0) return std::nullopt;
  return early{newest_, from_children_[static_cast<std::size_t>(newest_ - child(0))]};
}

std::optional<std::vector<std::byte>> tree::result() { return std::exchange(result_, std::nullopt); }

}  // namespace filch::detail::places
