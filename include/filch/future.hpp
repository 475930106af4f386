// promise and future: a value that is there later, and tasks that wait for it without holding a worker.
//
// Nobody blocks: what waits for futures is a task that begins when they are ready (filch/places.hpp, async_await). The
// data-driven futures of Habanero (Tasirlar and Sarkar, ICPP 2011).
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <filch/config.hpp>
#include <filch/platform/memory.hpp>
#include <filch/unit.hpp>

namespace filch {

namespace detail {

/// Somebody who is told when a future is ready; once, by whoever makes it ready.
struct future_waiter {
  future_waiter* next = nullptr;
  void (*tell)(future_waiter&) noexcept = nullptr;
};

/// Ready or not, and who waits.
class future_base {
 public:
  future_base() = default;
  future_base(const future_base&) = delete;
  future_base& operator=(const future_base&) = delete;

  [[nodiscard]] bool is_ready() const noexcept {
    // [FU1] acquire: the value, from [FU2].
    return waiters_.load(std::memory_order_acquire) == ready_mark();
  }
  /// False: it is ready already, and the waiter will not be told.
  [[nodiscard]] bool add(future_waiter& w) noexcept {
    future_waiter* newest = waiters_.load(std::memory_order_acquire);  // [FU1]
    do {
      if (newest == ready_mark()) return false;
      w.next = newest;
      // [FU3] release: the waiter, for [FU2]. acquire: when it fails, as [FU1].
    } while (!waiters_.compare_exchange_weak(newest, &w, std::memory_order_release, std::memory_order_acquire));
    return true;
  }

 protected:
  ~future_base() = default;
  /// Tells all. The caller has the value there.
  void make_ready() noexcept {
    // [FU2] release: the value. acquire: the waiters, from [FU3].
    future_waiter* w = waiters_.exchange(ready_mark(), std::memory_order_acq_rel);
    while (w != nullptr) {
      future_waiter& next = *std::exchange(w, w->next);  // which may be gone when it was told
      next.tell(next);
    }
  }

 private:
  [[nodiscard]] future_waiter* ready_mark() const noexcept { return const_cast<future_waiter*>(&mark_); }

  platform::atomic<future_waiter*> waiters_{nullptr};
  future_waiter mark_;
};

template <class T>
class future_state final : public future_base {
 public:
  template <class... Args>
  void put(Args&&... args) {
    value_.emplace(std::forward<Args>(args)...);
    make_ready();
  }
  void put_error(std::exception_ptr error) noexcept {
    error_ = std::move(error);
    make_ready();
  }
  [[nodiscard]] const T& get() const {
    if (!is_ready()) throw std::logic_error("filch: get() of a future that is not ready; wait for it by async_await");
    if (error_ != nullptr) std::rethrow_exception(error_);
    return *value_;
  }

 private:
  std::optional<T> value_;
  std::exception_ptr error_;
};

struct future_access;

}  // namespace detail

template <class T>
class promise;

/// A value that is there later. Copies refer to the same value. Any thread may call anything.
template <class T = unit>
class future {
 public:
  /// Is the value there, or the error? Then what its maker did before is seen.
  [[nodiscard]] bool is_ready() const noexcept { return state_->is_ready(); }
  /// The value. It lasts as long as a copy of the future.
  /// @throws std::logic_error when it is not ready; what put_error() was given.
  [[nodiscard]] const T& get() const { return state_->get(); }

 private:
  friend class promise<T>;
  friend struct detail::future_access;
  explicit future(std::shared_ptr<detail::future_state<T>> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<detail::future_state<T>> state_;
};

/// Whoever gives a future its value, once. One thread at a time.
template <class T = unit>
class promise {
 public:
  promise() : state_(std::make_shared<detail::future_state<T>>()) {}
  promise(promise&& from) noexcept = default;
  promise& operator=(promise&& from) noexcept {
    std::swap(state_, from.state_);
    return *this;
  }
  promise(const promise&) = delete;
  promise& operator=(const promise&) = delete;
  /// Without a value by then, the future has an error: std::logic_error.
  ~promise() {
    if (state_ != nullptr && !state_->is_ready()) {
      state_->put_error(std::make_exception_ptr(std::logic_error("filch: a promise ended without a value")));
    }
  }

  [[nodiscard]] future<T> get_future() const { return future<T>(state_); }

  /// Makes the value of these arguments. Tasks that wait for this future alone may begin.
  /// @throws std::logic_error when there is a value, or an error, already; what T's constructor throws.
  template <class... Args>
  void put(Args&&... args) {
    reject_second();
    state_->put(std::forward<Args>(args)...);
  }
  /// The future has no value: get() throws that.
  /// @throws std::logic_error as put().
  void put_error(std::exception_ptr error) {
    reject_second();
    state_->put_error(std::move(error));
  }

 private:
  void reject_second() const {
    if (state_->is_ready()) throw std::logic_error("filch: put() of a promise that has a value; a promise takes one");
  }

  std::shared_ptr<detail::future_state<T>> state_;
};

namespace detail {

struct future_access {
  template <class T>
  [[nodiscard]] static const std::shared_ptr<future_state<T>>& state(const future<T>& f) noexcept {
    return f.state_;
  }
};

}  // namespace detail
}  // namespace filch
