// When is a finish_spmd over? docs/protocols/termination.md. Each place counts what it has made and what has ended, for ever;
// a place that is idle joins a wave, which adds up first what has ended everywhere, and then what was made. If the sums
// are equal, nothing was left at the moment between.
//
// Thread safety: one thread at a time, the one that looks at the network, but for the counts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <filch/platform/memory.hpp>

#include "places/carried_error.hpp"
#include "places/tree.hpp"

namespace filch::detail::places {

/// What one worker, or whoever looks at the network, has made and ended: one writer each.
class task_counts {
 public:
  explicit task_counts(std::size_t writers);

  /// Before others can see what was made.
  void made(std::size_t by) noexcept { add_one(each_[by].made); }
  /// After all that it has done.
  void ended(std::size_t by) noexcept { add_one(each_[by].ended); }
  [[nodiscard]] std::uint64_t all_made() const noexcept { return sum(&counts::made); }
  [[nodiscard]] std::uint64_t all_ended() const noexcept { return sum(&counts::ended); }

 private:
  struct alignas(64) counts {
    platform::atomic<std::uint64_t> made{0};
    platform::atomic<std::uint64_t> ended{0};
  };
  static void add_one(platform::atomic<std::uint64_t>& to) noexcept {
    // [PT1] release: what was done before, and what was counted as made, for whoever sees this count, [PT2].
    to.store(to.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t sum(platform::atomic<std::uint64_t> counts::* which) const noexcept;

  std::size_t writers_;
  std::unique_ptr<counts[]> each_;
};

class termination {
 public:
  termination(const task_counts& counts, tree& waves) noexcept : counts_(counts), waves_(waves) {}

  /// `is_idle`: nothing is running or waits to be run here, as far as can be seen. `own`: says this place's error, if any.
  /// True: the finish is over.
  [[nodiscard]] bool step(bool is_idle, const std::function<std::optional<place_error>()>& own);
  /// Of a finish that is over: the error of the lowest place that has one.
  [[nodiscard]] const std::optional<place_error>& error() const noexcept { return error_; }

 private:
  enum class phase { working, ended_counted, made_counted };

  const task_counts& counts_;
  tree& waves_;
  phase phase_ = phase::working;
  std::uint64_t ended_ = 0;
  std::optional<place_error> error_;
};

}  // namespace filch::detail::places
