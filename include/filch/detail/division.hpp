// Where the children of a task go, if its policy knows a place for it: what constructs ask on their cold paths.
//
// adws (docs/protocols/adws.md): how a worker that searches divides what it runs among the workers of its range (Shiina
// and Taura 2019, section 4.2).
//
// A task's range of workers is divided like its work: the first child gets the left end, so the highest numbers, and
// belongs to the worker in whose part of the line its right end lies. That is another worker, to which the child is
// given, or the dividing one itself, which runs it at once.
//
// A program that is profiled says here where its tasks begin and end; all run at once (worker/profile_recorder.hpp).
//
// constrained (docs/protocols/constrained.md): each child of a task in a repeated part gets its path, and is given to
// the worker that the trace names, or pushed as ever.
#pragma once

#include <cstdint>

#include <filch/config.hpp>
#include <filch/detail/profiled_construct.hpp>
#include <filch/detail/worker_core.hpp>

namespace filch::detail {

struct loop_state;
class worker;

/// The division of one construct. It is in the construct's frame; a worker that searches, or runs a task of a repeated
/// part, makes it, and has its place back when it ends. Groups with totals may end in another order than they began: one that
/// is not the innermost leaves what it has to undo to the one inside of it.
class FILCH_API division {
 public:
  /// `family`: of the construct, while one of its tasks is waited for.
  division(worker_core& w, const void* family) noexcept;
  ~division();
  division(const division&) = delete;
  division& operator=(const division&) = delete;

  /// Cuts off the range of the next child, which has that share (0 to 1) of what is left. True: it is another worker's.
  /// In a repeated part it never is: the rest may be.
  [[nodiscard]] bool cut_off(double share) noexcept;
  /// Cuts off the range of the next part of a loop, at the boundary of workers nearest the middle; another worker's. What
  /// is left crosses workers. The part's share of it.
  [[nodiscard]] double cut_off_at_boundary() noexcept;

  /// Gives the task of a private slot to the child's owner. The slot stays where it is until join_given(). False: there
  /// is no memory, and it stays a task of the stack.
  bool give(slot& s) noexcept;
  /// The same with a part of a loop, until join_given_parts().
  bool give(loop_state& whole, std::uint64_t low, std::uint64_t high) noexcept;

  /// The rest is the newest task on the stack, while the child is run. Attends.
  void offer_rest(slot& s) noexcept;

  /// What the worker runs from now on has the place of the child; or of what is left; or none.
  void enter_child() noexcept;
  void enter_rest() noexcept;
  void enter_nothing() noexcept { enter({}); }

 private:
  void enter(const task_place& place) noexcept;
  void leave_profiled_child() noexcept;
  [[nodiscard]] worker& owner_of_child() const noexcept;
  [[nodiscard]] bool leaves_end_to_inner() noexcept;

  worker_core& w_;
  const void* family_;
  task_place whole_;
  task_place rest_;
  task_place child_{};
  /// Its steal range: none; the one around it, which is that of the scheduler, or has the same range; or its own.
  enum class steals_by : std::uint8_t { nothing, everybody, around, own } steals_by_ = steals_by::nothing;
  std::uint32_t own_ranges_ =
      0;                       ///< so many steal ranges end with it: its own, and those of outer ones that have ended
  division* outer_ = nullptr;  ///< the worker's, which this is in
  profiled_construct profiled_{};
  bool is_in_profiled_child_ = false;
};

/// Waits for a given task. `reclaimed`: nobody had begun it, and the owner has to run it, from its slot, which stays its
/// own until leave_given().
FILCH_API [[gnu::cold, gnu::noinline]] join_result join_given(worker_core& w, slot& s) noexcept;
/// Takes the slot of a task off that was given and joined.
FILCH_API [[gnu::cold, gnu::noinline]] void leave_given(worker_core& w, slot& s) noexcept;

/// Owner, in a construct of a repeated part or not: the newest slot holds a new task of a group. Attends.
FILCH_API [[gnu::cold, gnu::noinline]] void attend_to_new(worker_core& w, slot& s, const void* group) noexcept;

/// What the slot of a given task holds: to thieves an empty task. Its owner waits for it.
FILCH_API run_result run_given_away(task& t, run_by who);

/// What the slot of a task holds that its owner ran in a wait, before its turn: to all an empty task.
FILCH_API run_result run_before(task& t, run_by who);

/// Owner. Does the private slot hold no task any more, since that was given away, or has run? Joined by join_guarded().
inline bool is_left(const slot& s) noexcept {
  const task_function run = s.run.load();
  return run == &run_given_away || run == &run_before;
}

/// What the calling worker runs meanwhile has no place: bags and tasks that split themselves, whose parts have none in
/// the order of the program.
class search_pause {
 public:
  explicit search_pause(worker_core& w) noexcept : w_(w), paused_(w.diverts && w.place.is_known()) {
    if (paused_) [[unlikely]]
      w.diverts = false;
  }
  ~search_pause() {
    if (paused_) [[unlikely]]
      go_on(w_);
  }
  search_pause(const search_pause&) = delete;
  search_pause& operator=(const search_pause&) = delete;

 private:
  FILCH_API static void go_on(worker_core& w) noexcept;

  worker_core& w_;
  bool paused_;
};

/// The share of a child with so much work, of what is left of a total. In builds that check contracts a hint that is no
/// amount, or more than what is left, throws std::invalid_argument; else it counts as the nearest that is.
[[nodiscard]] inline double share_of(worker_core& w, double work, double left, double total);
FILCH_API [[noreturn, gnu::cold]] void reject_hint(double work, double left);
FILCH_API [[gnu::cold]] void note_bad_hint(worker_core& w) noexcept;

inline double share_of(worker_core& w, double work, double left, double total) {
  const double slack = 1e-9 * total;  // sums of hints are rounded
  const bool good = work >= 0 && left >= -slack && work <= left + slack;
  if (!good) {
    if constexpr (checks) reject_hint(work, left);
    note_bad_hint(w);
  }
  if (!(work > 0)) return 0;
  return work < left ? work / left : 1;
}

}  // namespace filch::detail
