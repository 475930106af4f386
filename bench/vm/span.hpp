// Work, span and branching depth of a computation that runs serially on the virtual machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace filch::bench {

/// What bounds on the time of a computation speak of. Times are virtual.
struct computation {
  double work_s = 0;                  ///< T1: all of it, one after the other
  double span_s = 0;                  ///< T_inf: its longest path
  std::uint64_t branching_depth = 0;  ///< F: forks on the path that has most of them
};

/// To some point of a computation: how long the longest path is, and how many forks are on the path with most of them.
struct path {
  double span_s = 0;
  std::uint64_t forks = 0;

  /// Both come together here.
  void meet(const path& other) {
    span_s = std::max(span_s, other.span_s);
    forks = std::max(forks, other.forks);
  }
  [[nodiscard]] path forked() const { return {span_s, forks + 1}; }
};

/// Follows the one computation that is measured. Inside of a simulated program of one thread.
class span_recorder {
 public:
  /// The computation begins now.
  void begin();
  /// Path to the present.
  [[nodiscard]] path now();
  /// What is run from now on follows that point, not what was run last.
  void go_to(const path& from);
  /// As far as it has run.
  [[nodiscard]] computation measured();

 private:
  path here_{};
  double begin_s_ = 0;
  double since_s_ = 0;  ///< `here_` is right for that time
};

inline span_recorder recorder;

/// A parallel loop as the private-deques paper has it: halved down to chunks of about a microsecond, or of an iteration
/// that forks itself. So long are the chunks of filch's own loops, too.
class loop_span {
 public:
  /// `grain`: chunks have at least so many iterations.
  explicit loop_span(std::uint64_t grain) : grain_(grain), begin_(recorder.now()), end_(begin_) {}

  /// An iteration has run. The next one follows it if they are of the same chunk.
  void iteration_done() {
    ++iterations_;
    const path here = recorder.now();
    const bool is_chunk = here.span_s - begin_.span_s >= chunk_s || here.forks != begin_.forks;
    if (is_chunk && iterations_ >= grain_) end_chunk(here);
  }
  /// The loop has run.
  void end() {
    if (iterations_ != 0) end_chunk(recorder.now());
    if (chunks_ > 1) end_.forks += static_cast<std::uint64_t>(std::bit_width(chunks_ - 1));
    recorder.go_to(end_);
  }

 private:
  static constexpr double chunk_s = 1e-6;

  void end_chunk(const path& here) {
    end_.meet(here);
    ++chunks_;
    iterations_ = 0;
    recorder.go_to(begin_);
  }

  std::uint64_t grain_;
  std::uint64_t iterations_ = 0;  ///< of this chunk
  std::uint64_t chunks_ = 0;
  path begin_;
  path end_;
};

}  // namespace filch::bench
