// How an exploration chooses where the program leaves a choice: who runs next, which of several stores a load reads,
// and whether something rare happens.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace filch::platform::vm {

/// Rare things that may happen at any time.
enum class rarity : std::uint8_t {
  spurious_wake,     ///< a park returns without a token
  spurious_failure,  ///< a weak compare-and-swap fails although the values are equal
  early_store,       ///< a store goes before another thread's in modification order
  short_pause,       ///< a pause ends although nothing has changed
  clock_jump,        ///< the thread was off its processor for a while
  interrupt          ///< an interrupt that is on its way arrives
};

class strategy {
 public:
  strategy() = default;
  virtual ~strategy() = default;
  strategy(const strategy&) = delete;
  strategy& operator=(const strategy&) = delete;

  /// Begins a run. False: every choice within the bounds has been tried.
  virtual bool begin() = 0;
  /// Who goes on: the position of one of `ready` (ascending numbers, at least one). `current`: position of the one that
  /// runs, or ready.size() when that cannot go on.
  virtual std::size_t next(std::span<const std::uint32_t> ready, std::size_t current) = 0;
  /// One of n values, 0 being the newest. n is at least 2.
  virtual std::uint32_t pick(std::uint32_t n) = 0;
  virtual bool happens(rarity what) = 0;
  /// What makes `replay` repeat the current run.
  [[nodiscard]] virtual std::string seed() const = 0;
};

/// By name: "random", "pct" (priorities that change a few times in a run; Burckhardt et al. 2010; finds bugs that need
/// d orderings with a guaranteed probability) or "exhaustive" (all runs with few preemptions and few old values).
/// @throws std::invalid_argument for another name, with one line that says which there are.
std::unique_ptr<strategy> make_strategy(std::string_view name, std::uint64_t seed);

/// A strategy of one run: the one that had the seed.
/// @throws std::invalid_argument when that is no seed.
std::unique_ptr<strategy> replay(std::string_view seed);

}  // namespace filch::platform::vm
