// Measures one workload under several runtimes so that their times can be compared on a machine that is never quite
// quiet. In each round everything runs once, in a fresh random order, and each run is compared with a serial run a few
// runs away: what disturbs the machine for longer than that disturbs both, and cancels in the ratio.
//
// Invariants:
// 1. Every run is prepared before, and verified after, its timed part.
// 2. A round is cut into blocks of at most `block_size` runs, each with one serial run at a random place in it; ratios
//    are formed within a block only.
// 3. The first run of each runtime (page faults, thread creation) is not counted, unless it alone takes longer than
//    `once_above_s`.
#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "executor.hpp"
#include "progress_line.hpp"

namespace filch::cli {

struct sampling_options {
  int rounds = 0;          ///< 0: as many as fit into `budget_s`, within the two limits below
  double budget_s = 10.0;  ///< for one workload, without its warm-up
  int least_rounds = 5;
  int most_rounds = 21;
  double once_above_s = 1e9;  ///< a runtime whose first run takes longer is not run again
};

/// What was measured of one runtime.
struct samples {
  std::vector<double> seconds{};
  std::vector<double> ratios{};          ///< time over that of the serial run in the same block
  std::optional<statistics> counters{};  ///< sums over the counted runs
  std::string result{};                  ///< what the last run computed
  bool is_wrong = false;                 ///< some run's result did not verify; its message is in sampler::errors
};

class sampler {
 public:
  /// `label` names the workload and its size in messages. The instance and the executors must outlive the sampler.
  sampler(bench::instance& instance, std::string label, executor& serial, const std::vector<executor*>& others);

  /// Measures; to be called once.
  void take(const sampling_options& options, progress_line& progress);

  const samples& serial() const { return samples_.front(); }
  const samples& other(std::size_t index) const { return samples_[index + 1]; }

  /// One line for each runtime that computed something wrong.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  static constexpr std::size_t block_size = 4;
  using indices = std::vector<std::size_t>;  // into executors_; 0 is the serial one

  indices warm_up(const sampling_options& options, progress_line& progress);
  void take_round(indices active);
  void take_block(indices members);
  double run_once(std::size_t index);
  void record(std::size_t index, double seconds, double serial_seconds);
  void check(std::size_t index);

  bench::instance& instance_;
  std::string label_;
  std::vector<executor*> executors_;
  std::vector<samples> samples_;
  std::vector<std::string> errors_;
  std::mt19937_64 order_;
  double round_s_ = 0;  // expected duration of a round
};

}  // namespace filch::cli
