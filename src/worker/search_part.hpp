// Where a worker that searches looks first.
#pragma once

#include <cstdint>
#include <utility>

namespace filch::detail {

class worker;

/// Where the owner looks for work first, while it searches.
class search_part {
 public:
  /// The next searches look at that worker first. Null: at none.
  void follow(const worker* at) noexcept {
    hint_ = at;
    left_ = searches;
  }
  /// Where to search; null: anywhere. So it is each second time: the hint's worker may offer again and again what
  /// it takes back at once, while another one has work.
  [[nodiscard]] const worker* next() noexcept { return hint_ != nullptr && left_-- % 2 == 0 ? hint_ : nullptr; }
  [[nodiscard]] bool is_used_up() const noexcept { return hint_ != nullptr && left_ == 0; }
  /// So many victims have been chosen in vain before this one.
  [[nodiscard]] std::uint32_t next_attempt() noexcept { return attempts_++; }
  void succeeded() noexcept { attempts_ = 0; }
  /// Where it was to search; null: anywhere.
  const worker* forget() noexcept { return std::exchange(hint_, nullptr); }

 private:
  /// Long enough for the hint's worker to share what it has taken; short beside a search at random among hundreds.
  static constexpr unsigned searches = 16;
  const worker* hint_ = nullptr;
  unsigned left_ = 0;
  std::uint32_t attempts_ = 0;
};

}  // namespace filch::detail
