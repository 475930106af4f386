#include <map>
#include <mutex>
#include <utility>
#include <vector>

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
    detail::detached_task* first = nullptr;
    released now;
    {
      const std::lock_guard lock(mutex_);
      m->phase = current();
      first = &hold_next(m);
      if (m->mode != phaser_mode::wait_only) {
        ++signallers_at_[m->phase];
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
  using released = std::vector<detail::detached_task*>;

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
    detail::detached_task* next = nullptr;
    try {
      if (m->f(m->phase)) next = &hold_next(m);
    } catch (...) {
      leave(*m);
      throw;
    }
    if (next == nullptr) return leave(*m);
    released now;
    {
      const std::lock_guard lock(mutex_);
      move_from(*m);
      ++m->phase;
      if (m->mode != phaser_mode::wait_only) ++signallers_at_[m->phase];
      if (m->mode == phaser_mode::signal_only) {
        now = take_released();
        now.push_back(next);
      } else {
        waiting_.emplace(m->phase, next);
        now = take_released();
      }
    }
    release(now);
  }

  void leave(const member& m) {
    released now;
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
  released take_released() {
    released all;
    if (missing_ != 0) return all;
    const bool is_free = signallers_at_.empty();
    const std::size_t reached = is_free ? 0 : signallers_at_.begin()->first;
    while (!waiting_.empty() && (is_free || waiting_.begin()->first <= reached)) {
      all.push_back(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
    return all;
  }

  static void release(const released& all) {
    for (detail::detached_task* const each : all) detail::held_tasks::release(*each);
  }

  mutable platform::mutex mutex_;
  std::size_t missing_;                                         ///< signallers that have yet to join
  std::size_t last_ = 0;                                        ///< one past the last phase that anybody has ended
  std::map<std::size_t, std::size_t> signallers_at_;            ///< how many are in that phase
  std::multimap<std::size_t, detail::detached_task*> waiting_;  ///< for that phase to begin
};

phaser::phaser(std::size_t signallers) : state_(std::make_shared<state>(signallers)) {}

phaser::~phaser() = default;

std::size_t phaser::phase() const { return state_->phase(); }

void phaser::add(std::function<bool(std::size_t)> f, phaser_mode mode,
                 std::function<detail::detached_task&(std::function<void()>)> hold) {
  state_->add(std::make_shared<state::member>(state::member{std::move(f), mode, std::move(hold)}));
}

}  // namespace filch
