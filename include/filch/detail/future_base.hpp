// What a future is without its type: ready or not, who waits, and who has it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <filch/config.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

class background_task;
class future_base;

/// Somebody who is told when a future is ready; once, by whoever makes it ready.
struct future_waiter {
  future_waiter* next = nullptr;
  /// Returns those who wait for what has become ready by that, whom the caller tells as well.
  future_waiter* (*tell)(future_waiter&) noexcept = nullptr;
  bool may_run = false;  ///< that may take long: it may run, or end, somebody's closure
};

/// Tells them all, and who follows from each before the next one; but first those that are through with it at once: what a closure
/// does may wait for them. A loop, so that chains may be as long as they like.
inline void tell_all(future_waiter* first) noexcept {
  future_waiter* later = nullptr;
  for (;;) {
    for (future_waiter** next_later = &later; first != nullptr;) {
      future_waiter& told = *std::exchange(first, first->next);  // which may be gone when it has been told
      if (told.may_run) {
        told.next = std::exchange(*next_later, &told);
        next_later = &told.next;
        continue;
      }
      future_waiter* const following = told.tell(told);
      if (following == nullptr) continue;
      future_waiter* last = following;
      while (last->next != nullptr) last = last->next;
      last->next = std::exchange(first, following);
    }
    if (later == nullptr) return;
    future_waiter& told = *std::exchange(later, later->next);
    first = told.tell(told);
  }
}

/// The futures that one waits for which is ready when all of them are.
class future_parts {
 public:
  using visitor = std::function<bool(future_base& part)>;
  /// Calls f with each, unless all are ready. Did one of the calls return true? Throws what f throws.
  virtual bool visit(const visitor& f) = 0;

 protected:
  ~future_parts() = default;
};

/// Ready or not, who waits, and who has it. Users have the value: futures, promises, continuations that wait for it. When the last
/// of them goes so does the value, whatever else has the state: the task that makes it ready, and a queue that this lies in.
class future_base {
 public:
  /// Has one user. `maker`: the task that will make it ready. `parts`: those that do so together. Neither: whoever has the promise.
  explicit future_base(background_task* maker, future_parts* parts = nullptr) noexcept : maker_(maker), parts_(parts) {}
  future_base(const future_base&) = delete;
  future_base& operator=(const future_base&) = delete;

  [[nodiscard]] bool is_ready() const noexcept {
    // [FU1] acquire: the value, from [FU2].
    return waiters_.load(std::memory_order_acquire) == ready_mark();
  }
  [[nodiscard]] background_task* maker() const noexcept { return maker_; }
  [[nodiscard]] future_parts* parts() const noexcept { return parts_; }
  /// User. False: it is ready already, and the waiter will not be told.
  [[nodiscard]] bool add(future_waiter& w) noexcept {
    future_waiter* newest = waiters_.load(std::memory_order_acquire);  // [FU1]
    do {
      if (newest == ready_mark()) return false;
      w.next = newest;
      // [FU3] release: the waiter, for [FU2]. acquire: when it fails, as [FU1].
    } while (!waiters_.compare_exchange_weak(newest, &w, std::memory_order_release, std::memory_order_acquire));
    return true;
  }

  /// Is `search` another one than the last that has come here? From now on it is the last.
  [[nodiscard]] bool is_new_to(std::uint64_t search) noexcept {
    // [FU9] relaxed: of two, one is the first, and that is all they tell each other.
    return last_search_.exchange(search, std::memory_order_relaxed) != search;
  }

  void add_user() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }  // [FU6]
  void drop_user() noexcept {
    // [FU6] release: what it has done with the value. acquire: what others have, for the value's end.
    if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    // [FU7] acquire: the value, as [FU1]. Without a value yet, whoever makes it ends it: nobody waits, or ever will.
    if (is_ready() || waiters_.exchange(unused_mark(), std::memory_order_acquire) == ready_mark()) end_value();
    drop_holder();
  }
  /// Who has the state alone; all users together count as one.
  void add_holder() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }  // [FU8]
  void drop_holder() noexcept {
    // [FU8] release: what it has done with the state. acquire: what others have, for its end. No exploration catches this: what is
    // done with it last is atomic, and nobody looks whether an object's end comes after that.
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  virtual ~future_base() = default;
  /// The caller has the value there, and tells those who are returned.
  [[nodiscard]] future_waiter* make_ready() noexcept {
    // [FU2] release: the value. acquire: the waiters, from [FU3].
    future_waiter* const waiters = waiters_.exchange(ready_mark(), std::memory_order_acq_rel);
    if (waiters != unused_mark()) return waiters;
    end_value();
    return nullptr;
  }

 private:
  /// Nobody has the value, or the error, any more.
  virtual void end_value() noexcept = 0;

  // Addresses that no waiter has.
  [[nodiscard]] future_waiter* ready_mark() const noexcept { return mark_at(users_); }
  [[nodiscard]] future_waiter* unused_mark() const noexcept { return mark_at(holders_); }
  [[nodiscard]] static future_waiter* mark_at(const platform::atomic<std::uint32_t>& member) noexcept {
    return reinterpret_cast<future_waiter*>(const_cast<platform::atomic<std::uint32_t>*>(&member));
  }

  platform::atomic<future_waiter*> waiters_{nullptr};
  platform::atomic<std::uint32_t> users_{1};
  platform::atomic<std::uint32_t> holders_{1};
  platform::atomic<std::uint64_t> last_search_{0};
  background_task* const maker_;
  future_parts* const parts_;
};

/// @throws std::logic_error.
[[noreturn]] FILCH_API void reject_missing_state();

/// A user of a future's state.
template <class State>
class future_user {
 public:
  future_user() noexcept = default;
  /// Takes over what counts the caller as a user.
  explicit future_user(State* counted) noexcept : state_(counted) {}
  future_user(const future_user& from) noexcept : state_(from.state_) {
    if (state_ != nullptr) state_->add_user();
  }
  future_user(future_user&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
  template <class Derived>
    requires(std::is_convertible_v<Derived*, State*>)
  future_user(future_user<Derived> from) noexcept : state_(from.release()) {}
  future_user& operator=(future_user from) noexcept {
    std::swap(state_, from.state_);
    return *this;
  }
  ~future_user() {
    if (state_ != nullptr) state_->drop_user();
  }
  [[nodiscard]] State* get() const noexcept { return state_; }
  /// @throws std::logic_error when there is none.
  State& operator*() const { return *operator->(); }
  State* operator->() const {
    if (state_ == nullptr) reject_missing_state();
    return state_;
  }
  [[nodiscard]] bool operator==(std::nullptr_t) const noexcept { return state_ == nullptr; }
  /// The caller counts as the user.
  [[nodiscard]] State* release() noexcept { return std::exchange(state_, nullptr); }

 private:
  State* state_ = nullptr;
};

template <class State, class... Args>
[[nodiscard]] future_user<State> make_future_state(Args&&... args) {
  return future_user<State>(new State(std::forward<Args>(args)...));
}

/// Who has a future's state, and not its value.
class future_holder {
 public:
  future_holder() noexcept = default;
  explicit future_holder(future_base& of) noexcept : state_(&of) { of.add_holder(); }
  future_holder(future_holder&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
  future_holder& operator=(future_holder from) noexcept {
    std::swap(state_, from.state_);
    return *this;
  }
  ~future_holder() {
    if (state_ != nullptr) state_->drop_holder();
  }

 private:
  future_base* state_ = nullptr;
};

}  // namespace filch::detail
