// The join of a task that somebody else has: docs/protocols/wait.md.
#include <filch/detail/bag_share.hpp>

#include "platform/clock.hpp"
#include "platform/thread.hpp"
#include "worker/interrupter.hpp"
#include "worker/loop_share.hpp"
#include "worker/team.hpp"
#include "worker/wait.hpp"

namespace filch::detail {
namespace {

class task_wait : public waiting_worker {
 public:
  task_wait(worker& w, task& t, work_share* adopter, siblings* others) noexcept
      : waiting_worker(w), task_(t), adopter_(adopter), others_(others) {}

  [[nodiscard]] join_result result() const noexcept { return result_; }

  bool over() noexcept {
    if (adopter_ != nullptr && has_work(*adopter_)) return ends(join_result::reclaimed);
    for (;;) {
      // [TS3] acquire: what the task did, from [TS2]; and the thief's activation, from [TS1] or [TS5].
      word_ = task_.state.load(std::memory_order_acquire);
      const auto state = task_state::unpack(word_);
      if (state.status == task_status::done) return ends(join_result::done);
      if (state.status == task_status::failed) return ends(join_result::failed);
      // Taken back before, and joined in place since.
      if (state.status == task_status::reclaimed) return ends(join_result::reclaimed);
      is_taken_ = state.status == task_status::taken;
      thief_ = {state.thief, state.id};
      if (state.status != task_status::batched) return false;
      // [TS9] relaxed: the slot is the owner's own work; the thief's claim [TS5] is of the same word.
      if (task_.state.compare_exchange_strong(word_, task_state{.status = task_status::reclaimed}.pack(),
                                              std::memory_order_relaxed, std::memory_order_relaxed)) {
        return ends(join_result::reclaimed);
      }
    }
  }

  bool help() noexcept {
    if (run_given()) return true;
    w_.counted.waiting.begin();
    if (is_taken_ && w_.common.policy.help(w_, thief_, adopter_)) return true;
    return others_ != nullptr && others_->help(w_);
  }

  bool interrupt() noexcept { return is_taken_ && w_.common.interrupter.interrupt_if_due(thief()); }

  /// Until the task is done, its thief offers something inside of it, or there is a sibling to run.
  bool sleep() noexcept {
    if (!is_taken_) {
      platform::yield();  // the thief has won the task and is about to say so
      return false;
    }
    task_state marked = task_state::unpack(word_);
    marked.waiting = true;
    std::uint64_t word = marked.pack();
    // [TS4] relaxed: a mark for the thief's exchange of the same word ([TS2]); for offers it is released by [SL4].
    if (!task_.state.compare_exchange_strong(word_, word, std::memory_order_relaxed, std::memory_order_relaxed)) {
      return true;
    }
    if (others_ != nullptr) others_->begin_sleep(w_);
    doze_unless(
        [&] {
          w_.common.policy.await_help(w_, thief_);
          return w_.common.policy.help_visible(w_, thief_) || (others_ != nullptr && others_->help_visible(w_));
        },
        [&] { return w_.common.interrupter.due(thief()); });
    if (others_ != nullptr) others_->end_sleep(w_);
    marked.waiting = false;
    // Awake: no need to be woken. Fails when the task is done, which is as well. relaxed as [TS4].
    task_.state.compare_exchange_strong(word, marked.pack(), std::memory_order_relaxed, std::memory_order_relaxed);
    w_.common.policy.collect_help(w_, thief_, adopter_);
    return true;
  }

 private:
  bool ends(join_result how) noexcept {
    result_ = how;
    return true;
  }
  [[nodiscard]] worker& thief() const noexcept { return w_.common.team[thief_.thief]; }

  task& task_;
  work_share* adopter_;
  siblings* others_;
  std::uint64_t word_ = 0;  ///< the task's state, as it was seen last; and what follows from it:
  bool is_taken_ = false;
  lineage thief_{};
  join_result result_{};
};

}  // namespace

bool has_work(const work_share& share) noexcept {
  if (share.is_bag) return static_cast<const bag_share&>(share).has_work();
  const auto& f = static_cast<const loop_share&>(share);
  return f.next.load() != f.last.load();
}

join_result wait_for(worker& w, task& t, work_share* adopter, siblings* others) noexcept {
  task_wait waiting(w, t, adopter, others);
  wait_until_over(waiting, w.common.spin_ns);
  return waiting.result();
}

}  // namespace filch::detail
