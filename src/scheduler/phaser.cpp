#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <filch/phaser.hpp>

#include "platform/thread.hpp"

namespace filch {

class phaser::state : public std::enable_shared_from_this<state> {
 public:
  explicit state(std::size_t signallers) : missing_(signallers) {}

  using hold_function = std::function<detail::detached_task&(std::function<void()>)>;

  struct member {
    std::function<bool(std::size_t)> f;
    phaser_mode mode;
    hold_function hold;
    std::size_t phase = 0;
  };

  void add(const std::shared_ptr<member>& m) {
    signal_counts room{{0, 0}};
    detail::detached_task* first = nullptr;
    held_by_phase now;
    {
      const std::lock_guard lock(mutex_);
      m->phase = current();
      first = &hold_next(m);  // the last that may throw
      if (m->mode != phaser_mode::wait_only) {
        count_signaller(room, m->phase);
        if (missing_ != 0) --missing_;
      }
      now = take_released();
    }
    detail::held_tasks::release(*first);
    release(now);
  }

  std::size_t phase() const {
    const std::lock_guard lock(mutex_);
    return current();
  }

 private:
  // Entries are made before tasks are held, and then moved from one map to another: without memory nothing has changed.
  using signal_counts = std::map<std::size_t, std::size_t>;
  using held_by_phase = std::multimap<std::size_t, detail::detached_task*>;

  void count_signaller(signal_counts& room, std::size_t phase) {
    signal_counts::node_type entry = room.extract(room.begin());
    entry.key() = phase;
    ++signallers_at_.insert(std::move(entry)).position->second;
  }

  // The phase that all who signal have reached, which is the first one until all have joined. Without any: the one after
  // the last.
  std::size_t current() const {
    if (missing_ != 0) return 0;
    return signallers_at_.empty() ? last_ : signallers_at_.begin()->first;
  }

  detail::detached_task& hold_next(const std::shared_ptr<member>& m) {
    return m->hold([here = shared_from_this(), m] { here->run(m); });
  }

  void run(const std::shared_ptr<member>& m) {
    signal_counts room;
    held_by_phase next;
    try {
      if (m->f(m->phase)) {
        room.emplace(0, 0);
        const auto at = next.emplace(m->phase + 1, nullptr);
        at->second = &hold_next(m);
      }
    } catch (...) {
      leave(*m);
      throw;
    }
    if (next.empty()) return leave(*m);
    held_by_phase now;
    {
      const std::lock_guard lock(mutex_);
      move_from(*m);
      ++m->phase;
      if (m->mode != phaser_mode::wait_only) count_signaller(room, m->phase);
      if (m->mode == phaser_mode::signal_only) {
        now = take_released();
        now.merge(next);
      } else {
        waiting_.merge(next);
        now = take_released();
      }
    }
    release(now);
  }

  void leave(const member& m) {
    held_by_phase now;
    {
      const std::lock_guard lock(mutex_);
      move_from(m);
      now = take_released();
    }
    release(now);
  }

  void move_from(const member& m) {
    last_ = std::max(last_, m.phase + 1);
    if (m.mode == phaser_mode::wait_only) return;
    const auto at = signallers_at_.find(m.phase);
    if (--at->second == 0) signallers_at_.erase(at);
  }

  // Those whose phase has begun. Where nobody signals any more, nobody is waited for.
  held_by_phase take_released() {
    held_by_phase all;
    if (missing_ != 0) return all;
    const bool is_free = signallers_at_.empty();
    const std::size_t reached = is_free ? 0 : signallers_at_.begin()->first;
    while (!waiting_.empty() && (is_free || waiting_.begin()->first <= reached)) {
      all.insert(waiting_.extract(waiting_.begin()));
    }
    return all;
  }

  static void release(const held_by_phase& all) {
    for (const auto& [phase, task] : all) detail::held_tasks::release(*task);
  }

  mutable platform::mutex mutex_;
  std::size_t missing_;          ///< signallers that have yet to join
  std::size_t last_ = 0;         ///< one past the last phase that anybody has ended
  signal_counts signallers_at_;  ///< how many are in that phase
  held_by_phase waiting_;        ///< for that phase to begin
};

phaser::phaser(std::size_t signallers) : state_(std::make_shared<state>(signallers)) {}

phaser::~phaser() = default;

std::size_t phaser::phase() const { return state_->phase(); }

void phaser::add(std::function<bool(std::size_t)> f, phaser_mode mode,
                 std::function<detail::detached_task&(std::function<void()>)> hold) {
  state_->add(std::make_shared<state::member>(state::member{std::move(f), mode, std::move(hold)}));
}

}  // namespace filch
