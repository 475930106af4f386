// Ranges of workers as intervals on the line of workers, in 32.32 numbers: worker i has [i, i + 1).
#pragma once

#include <algorithm>
#include <cstdint>

#include <filch/detail/worker_core.hpp>

namespace filch::detail {

inline constexpr std::uint64_t one_worker = std::uint64_t{1} << 32;

/// Whom a worker may take from, as `worker::reach` says it, if that is anybody.
inline constexpr std::uint64_t reach_of_all = one_worker - 1;

/// Which worker's part of the line is that in?
[[nodiscard]] constexpr std::uint64_t worker_at(std::uint64_t place) noexcept { return place / one_worker; }

/// Is the range in more than one worker's part of the line?
[[nodiscard]] constexpr bool crosses_workers(worker_range r) noexcept {
  return r.left > r.right && worker_at(r.left - 1) > worker_at(r.right);
}

/// Who runs a child with the range [right, left), cut off by worker `by`? Its range may be empty.
[[nodiscard]] constexpr std::uint64_t owner_of(worker_range child, std::uint64_t by) noexcept {
  return std::max(by, std::min(worker_at(child.right), worker_at(child.left - 1)));
}

/// Where the range is divided when its left end has that share of it. Close to a boundary of workers: there, so that
/// rounding does not give a worker a sliver of a task.
[[nodiscard]] constexpr std::uint64_t dividing_point(worker_range r, double share) noexcept {
  constexpr std::uint64_t close = one_worker / 256;
  const std::uint64_t size = r.left - r.right;
  const std::uint64_t middle = r.left - std::min(size, static_cast<std::uint64_t>(static_cast<double>(size) * share));
  const std::uint64_t boundary = worker_at(middle + one_worker / 2) * one_worker;
  const std::uint64_t distance = boundary > middle ? boundary - middle : middle - boundary;
  return distance < close && r.right <= boundary && boundary <= r.left ? boundary : middle;
}

}  // namespace filch::detail
