#include "worker/idle_marks.hpp"

#include <algorithm>

#include "worker/team.hpp"

namespace filch::detail {

idle_marks::idle_marks()
    : memory_(team::max_workers * sizeof(platform::atomic<idle_mark>)),
      marks_(static_cast<platform::atomic<idle_mark>*>(memory_.data())) {
  static_assert(sizeof(platform::atomic<idle_mark>) * of_a_line == 64);
}

std::uint32_t idle_marks::estimate(std::uint32_t workers, std::uint32_t near) const noexcept {
  const std::uint32_t looked_at = std::min(workers, of_a_line);
  const std::uint32_t begin = std::min(near / of_a_line * of_a_line, workers - looked_at);
  std::uint32_t found = 0;
  for (std::uint32_t i = begin; i < begin + looked_at; ++i) {
    if (is_search(marks_[i].load(std::memory_order_relaxed))) ++found;  // [SL10]
  }
  return static_cast<std::uint32_t>(std::uint64_t{found} * workers / looked_at);
}

}  // namespace filch::detail
