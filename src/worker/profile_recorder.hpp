// The profile of a program: work, span and the graph of its tasks, measured while it runs in its own order.
//
// With FILCH_PROFILE set the policy is `serial`: each task runs where and when it is made. So the recorder sees forks and
// joins nest as in the program without filch, and needs one clock: between two of them a *strand* runs, whose time is
// added to the work, and to the path that ends with it. The longest path is the span (as in Cilkview: He, Leiserson and
// Leiserson 2010).
//
// The graph is a row of tokens: the time of a strand, or how tasks, constructs and loops begin and end. What a task
// contains is left out if all of it takes less than the threshold, which rises with the graph.
//
// Thread safety: one thread, that of the worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <filch/detail/profiled_construct.hpp>

#include "platform/processor_time.hpp"

namespace filch::detail {

class group_rest;
struct loop_state;
struct worker_core;

/// Tokens of a graph; others are nanoseconds.
namespace graph_token {
inline constexpr std::int64_t task = -1;  ///< forks a task, of what follows up to ...
inline constexpr std::int64_t task_end = -2;
inline constexpr std::int64_t construct = -3;  ///< the tasks from here to ...
inline constexpr std::int64_t join = -4;       ///< ... are joined here
inline constexpr std::int64_t loop = -5;       ///< of pieces, which are tasks or runs, up to ...
inline constexpr std::int64_t loop_end = -6;
inline constexpr std::int64_t run = -7;  ///< parts alike, of a grain each: two numbers follow, how many, and their time
}  // namespace graph_token

/// Calls inside of another one of the same part are counted, but their time is in that one's.
struct profiled_part {
  std::uint64_t calls = 0;
  std::uint64_t iterations = 0;  ///< of loops
  std::int64_t work_ns = 0;
  std::int64_t span_ns = 0;  ///< sum over the calls
  std::uint64_t open = 0;    ///< calls in progress
};

/// What roots had to do.
struct profiled_work {
  std::uint64_t roots = 0;
  std::uint64_t tasks = 0;  ///< that were forked, pieces of loops not among them
  std::int64_t work_ns = 0;
  std::int64_t span_ns = 0;  ///< of one root after the other
  std::uint32_t forks = 0;   ///< in the path with the most
  std::map<std::string, profiled_part> loops;
  std::map<std::string, profiled_part> named;
  std::vector<std::int64_t> graph;

  /// What depends on no order.
  void add_counts(const profiled_work& other);
  /// All of it, of what came afterwards.
  void add(const profiled_work& later);
};

class profile_recorder {
 public:
  /// Of a root, which took from then on with all that is done to measure it.
  explicit profile_recorder(std::int64_t since_ns) noexcept;

  [[nodiscard]] std::int64_t since_ns() const noexcept { return since_ns_; }
  /// Throws std::bad_alloc.
  void begin_root();
  /// The root runs a task of that group for a thread outside, and joins what further tasks of it there are.
  void begin_group(const group_rest& of) noexcept { group_ = &of; }
  /// The root's construct for them; null: that group is not the root's.
  [[nodiscard]] profiled_construct* construct_of(const group_rest& of) noexcept {
    return group_ == &of ? &of_group_ : nullptr;
  }
  /// What was recorded since.
  [[nodiscard]] profiled_work end_root() noexcept;

  void begin_child(profiled_construct& of) noexcept;
  void end_child(profiled_construct& of) noexcept;
  void join(profiled_construct& of) noexcept;

  /// The path that ends here.
  [[nodiscard]] profiled_path path() noexcept;
  /// What comes next comes after the end of that path, too.
  void follow(const profiled_path& other) noexcept;

  /// Runs [low, high) of a loop, in pieces.
  void run_loop(worker_core& w, loop_state& whole, std::uint64_t low, std::uint64_t high) noexcept;

  /// A part that named() names.
  struct part {
    std::int64_t work_ns;
    std::int64_t path_ns;
  };
  [[nodiscard]] part begin_part(const char* name) noexcept;
  void end_part(const char* name, const part& begun) noexcept;

 private:
  struct frame {
    profiled_path at;  ///< where it was forked
    std::int64_t work_ns;
    std::size_t begin;  ///< of its tokens
  };
  class no_strand;

  void look_at_clocks() noexcept;
  /// Of a strand of that length, the time in which its thread had no processor, because others had it.
  [[nodiscard]] std::int64_t preempted_ns(std::int64_t strand_ns) noexcept;
  void pause() noexcept;
  void resume() noexcept;
  void add_strand(std::int64_t ns);
  void end_call(profiled_part& of, const part& begun) noexcept;
  void add_run(std::size_t loop_begin, std::int64_t parts, std::int64_t ns, std::int64_t loop_ns);
  void begin_task();
  void end_task();
  void raise_threshold() noexcept;

  const std::int64_t since_ns_;
  const std::int64_t clock_ns_;  ///< what an empty strand takes
  profiled_work done_;
  profiled_path now_;
  std::vector<frame> frames_;          ///< the tasks that it is in
  const group_rest* group_ = nullptr;  ///< that the root is a task of
  profiled_construct of_group_{};
  std::int64_t strand_since_ns_ = 0;
  std::int64_t paused_at_ns_ = 0;  ///< when the last strand ended; 0: there was none
  // When a strand, or the time between two, was long for the last time, or the root began.
  platform::processor_time processor_time_{};
  std::int64_t processor_time_at_ns_ = 0;
  std::int64_t threshold_ns_ = 1'000;
  std::size_t most_tokens_ = 1 << 16;
  std::uint64_t constructs_ = 0;  ///< that were opened so far
};

}  // namespace filch::detail
