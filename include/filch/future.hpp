// promise and future: a value that is there later, and tasks that wait for it without holding a worker.
//
// What waits for futures is mostly a task that begins when they are ready: then(), and async_await of filch/places.hpp. The
// data-driven futures of Habanero (Tasirlar and Sarkar, ICPP 2011). wait() is for who has nothing else to do.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/config.hpp>
#include <filch/detail/background_task.hpp>
#include <filch/detail/future_base.hpp>
#include <filch/platform/memory.hpp>
#include <filch/unit.hpp>

namespace filch {

namespace detail {

/// A std::logic_error; or, where there is no memory for one, what that threw.
[[nodiscard]] inline std::exception_ptr logic_error_of(const char* what) noexcept {
  try {
    return std::make_exception_ptr(std::logic_error(what));
  } catch (...) {
    return std::current_exception();
  }
}

/// Returns when it is ready; helps with the task that makes it ready, if there is one.
FILCH_API void wait_until_ready(future_base& f);

/// The same, but for so long at most, unless what it runs takes longer. @return whether it is ready.
FILCH_API bool wait_until_ready_for(future_base& f, std::int64_t longest_ns);

/// A std::chrono::duration. Who has one has included <chrono>, which takes as long to compile as a tenth of filch.
template <class Time>
concept duration = requires(const Time& time) {
  Time::period::num;
  static_cast<double>(time.count());
};

/// In whole nanoseconds, not less; years where it is longer than they can say, none where it is no number.
template <duration Time>
[[nodiscard]] constexpr std::int64_t nanoseconds_of(const Time& time) {
  constexpr double most = 4e18;
  constexpr double unit = 1e9 * static_cast<double>(Time::period::num) / static_cast<double>(Time::period::den);
  const double ns = static_cast<double>(time.count()) * unit;
  if (!(ns > 0)) return 0;
  if (ns >= most) return static_cast<std::int64_t>(most);
  const auto whole = static_cast<std::int64_t>(ns);
  return static_cast<double>(whole) < ns ? whole + 1 : whole;
}

/// Runs the task that makes f ready, unless somebody has begun that. It is a submitted one, or a continuation of a future that is ready.
FILCH_API void run_maker(future_base& f);

template <class T>
class future_state : public future_base {
 public:
  explicit future_state(background_task* maker = nullptr, future_parts* parts = nullptr) noexcept
      : future_base(maker, parts) {}

  /// Those who are returned have to be told that it is ready.
  template <class... Args>
  [[nodiscard]] future_waiter* put(Args&&... args) {
    keep(std::forward<Args>(args)...);
    return make_ready();
  }
  [[nodiscard]] future_waiter* put_error(std::exception_ptr error) noexcept {
    keep_error(std::move(error));
    return make_ready();
  }
  /// Of one that is ready; null: it has a value.
  [[nodiscard]] std::exception_ptr error() const noexcept { return error_; }
  [[nodiscard]] const T& get() {
    detail::wait_until_ready(*this);
    if (error_ != nullptr) std::rethrow_exception(error_);
    return *value_;
  }
  /// Moves the value out: from then on it has an error.
  [[nodiscard]] T take() {
    static_cast<void>(get());
    std::exception_ptr moved_out = logic_error_of(
        "filch: the value of a future was moved out by get() of a temporary one; to read it more often, keep the "
        "future");
    T value = std::move(*value_);
    error_ = std::move(moved_out);
    return value;
  }

 protected:
  /// make_ready() has to follow.
  template <class... Args>
  void keep(Args&&... args) {
    value_.emplace(std::forward<Args>(args)...);
  }
  void keep_error(std::exception_ptr error) noexcept { error_ = std::move(error); }

 private:
  void end_value() noexcept override {
    value_.reset();
    error_ = nullptr;
  }

  std::optional<T> value_;
  std::exception_ptr error_;
};

/// Can a T be copied? Containers claim it even where their elements cannot be.
template <class T>
inline constexpr bool copyable = std::copy_constructible<T>;
template <std::ranges::input_range T>
  requires(!std::same_as<std::ranges::range_value_t<T>, T> && !std::ranges::view<T>)
inline constexpr bool copyable<T> = std::copy_constructible<T> && copyable<std::ranges::range_value_t<T>>;
template <class T>
inline constexpr bool copyable<std::optional<T>> = copyable<T>;
template <class T, class U>
inline constexpr bool copyable<std::pair<T, U>> = copyable<std::remove_const_t<T>> && copyable<U>;
template <class... Ts>
inline constexpr bool copyable<std::tuple<Ts...>> = (copyable<Ts> && ...);

/// What calling F gives, as a value of a future.
template <class F, class... Args>
using future_value = std::conditional_t<std::is_void_v<std::invoke_result_t<F, Args...>>, unit,
                                        std::decay_t<std::invoke_result_t<F, Args...>>>;

/// A future that a task makes ready, and that task.
template <class T>
class task_future : public future_state<T>, public background_task {
 public:
  explicit task_future(body what, source_of asked = nullptr) noexcept
      : future_state<T>(this), background_task(what, asked) {}

 protected:
  ~task_future() override = default;

  /// Calls the closure, keeps what it returns or throws, and ends it. make_ready() has to follow, when nothing else of the
  /// program's is left here: what the closure captured, and what its objects refer to, may go away with who waits.
  template <class Closure, class... Args>
  void fulfil(std::optional<Closure>& closure, const Args&... args) noexcept {
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Closure, const Args&...>>) {
        std::invoke(std::move(*closure), args...);
        this->keep();
      } else {
        this->keep(std::invoke(std::move(*closure), args...));
      }
    } catch (...) {
      this->keep_error(std::current_exception());
    }
    closure.reset();
  }
};

/// A closure that was submitted.
template <class T, class Closure>
class submitted_task final : public task_future<T> {
 public:
  template <class F>
  explicit submitted_task(F&& f)
      : task_future<T>([](background_task& t) noexcept { return static_cast<submitted_task&>(t).run_body(); }),
        closure_(std::in_place, std::forward<F>(f)) {}

 private:
  future_waiter* run_body() noexcept {
    this->fulfil(closure_);
    return this->make_ready();
  }

  std::optional<Closure> closure_;
};

/// A closure that is called with the value of a future when that is there.
template <class T, class From, class Closure>
class continuation final : public task_future<T>, private future_waiter {
 public:
  template <class F>
  continuation(future_user<future_state<From>> from, F&& f)
      : task_future<T>([](background_task& t) noexcept { return static_cast<continuation&>(t).run_body(); },
                       [](const background_task& t) noexcept -> future_user<future_base> {
                         return static_cast<const continuation&>(t).from_;
                       }),
        from_(std::move(from)),
        closure_(std::in_place, std::forward<F>(f)) {
    tell = [](future_waiter& w) noexcept { return static_cast<continuation&>(w).begin(); };
    may_run = true;
  }

  void wait_for_source() noexcept {
    if (!from_->add(*this)) detail::tell_all(begin());
  }

 private:
  future_waiter* begin() noexcept {
    if (const std::optional<future_waiter*> following = this->release()) return *following;
    // The scheduler has ended. Who waits for this is told by the caller's loop, however many follow each other.
    this->give_up();
    closure_.reset();
    from_ = {};
    const future_holder last = this->let_go();
    return this->put_error(logic_error_of(
        "filch: the scheduler that was to run a continuation has ended; keep it until its futures are ready"));
  }
  future_waiter* run_body() noexcept {
    future_user<future_state<From>> from = std::move(from_);
    if (std::exception_ptr error = from->error()) {
      closure_.reset();
      this->keep_error(std::move(error));
    } else if constexpr (std::is_invocable_v<Closure, const From&>) {
      this->fulfil(closure_, from->get());
    } else {
      this->fulfil(closure_);
    }
    from = {};
    return this->make_ready();
  }

  future_user<future_state<From>> from_;
  std::optional<Closure> closure_;
};

struct future_access;

}  // namespace detail

template <class T>
class promise;

/// A value that is there later. Copies refer to the same value, which, like an exception, ends with the last of them, the promise, and
/// the continuations that wait for it. Any thread may call anything. Where valid() is false, anything else throws std::logic_error.
template <class T = unit>
class future {
 public:
  /// Of no value, as one that has been moved from: there is nothing to do with it but to assign another one, or to ask valid().
  future() noexcept = default;
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// Is the value there, or the error? Then what its maker did before is seen.
  [[nodiscard]] bool is_ready() const { return state_->is_ready(); }
  /// Returns when it is ready. A worker, or a thread outside, that waits for what was submitted runs that itself if nobody
  /// has begun it, or parts of it, and nothing else. Who waits for a continuation first runs what was submitted and the
  /// continuation waits for, if nobody has begun that, and then the continuation. A worker that waits for anything else, or for a
  /// continuation that cannot begin yet, spins for a moment and sleeps, and another thread takes its place
  /// (filch::blocking), which runs anything: hold no lock then that a task may want. The same
  /// holds for the last worker that is awake while others are blocked, whatever it waits for. So thousands of tasks that wait for
  /// one that is blocked may take a thread each; let them go on by then().
  /// @throws std::logic_error in a task of a place (filch/places.hpp), where it is not ready and was not submitted: who
  ///         waits there may hold up what it waits for; use async_await.
  void wait() const { detail::wait_until_ready(*state_); }
  /// The same, but for so long at most, a std::chrono::duration (0 or less: not at all). @return whether it is ready. A worker helps as in wait(), and what it
  /// runs by itself is run to its end, however long that takes; a thread outside runs nothing. It looks from time to time:
  /// after 50 us, and later when a sixteenth of the time has passed again, every 10 ms at least.
  template <detail::duration Time>
  bool wait_for(const Time& time) const {
    return detail::wait_until_ready_for(*state_, detail::nanoseconds_of(time));
  }
  /// The same, until that std::chrono::time_point.
  template <class TimePoint>
  bool wait_until(const TimePoint& time) const {
    using clock = typename TimePoint::clock;
    // Again where the clock was set meanwhile.
    for (auto now = clock::now(); now < time; now = clock::now()) {
      if (wait_for(time - now)) return true;
    }
    return is_ready();
  }
  /// Waits for the value, which lasts as long as a copy of the future. Of a temporary future, as in pool.submit(f).get() or
  /// std::move(f).get(): a copy of the value; or, if it cannot be copied, the value itself, which is moved out. No other
  /// thread may use it then, and whoever asks for it later gets std::logic_error. Containers of what cannot be copied are
  /// moved; a class of your own that has such a member has to delete its copy constructor.
  /// @throws what the task that makes it threw, or put_error() was given; and as wait().
  const T& get() const& { return state_->get(); }
  T get() && {
    if constexpr (detail::copyable<T>) {
      return state_->get();
    } else {
      return state_->take();
    }
  }
  /// A task that calls f with the value when that is there, or f() if f takes none: a future of what f returns. Of an
  /// error, or if f throws, that becomes the error of the new future. It is a task of the scheduler of the calling worker,
  /// or of the default scheduler; nobody waits for it.
  /// @throws std::bad_alloc; what copying f throws; what starting the default scheduler throws; std::system_error when a
  ///         scheduler of one worker needs a thread for it and none can be started.
  template <class F>
  auto then(F&& f) const {
    using closure = std::decay_t<F>;
    static_cast<void>(*state_);
    const auto begin = [&]<class Value>(std::type_identity<Value> /*of*/) {
      auto made = detail::make_future_state<detail::continuation<Value, T, closure>>(state_, std::forward<F>(f));
      detail::hold_background(*made, *made);
      made->wait_for_source();
      return future<Value>(std::move(made));
    };
    static_assert(
        std::is_invocable_v<closure, const T&> || std::is_invocable_v<closure>,
        "filch: a continuation is called with a constant reference to the future's value, or with nothing: others "
        "may wait for the same value, so it cannot be moved out");
    if constexpr (std::is_invocable_v<closure, const T&>) {
      return begin(std::type_identity<detail::future_value<closure, const T&>>());
    } else {
      return begin(std::type_identity<detail::future_value<closure>>());
    }
  }

 private:
  friend class promise<T>;
  template <class>
  friend class future;
  friend struct detail::future_access;
  explicit future(detail::future_user<detail::future_state<T>> state) noexcept : state_(std::move(state)) {}
  detail::future_user<detail::future_state<T>> state_;
};

// In place of some hundred errors, of which this would be one.
template <class T>
  requires std::is_void_v<T>
class future<T> {
  static_assert(!std::is_void_v<T>, "filch: a future of nothing is a future<>; void is no value");
};

/// Whoever gives a future its value, once. One thread at a time. One that has been moved from has no future: put(), put_error() and
/// get_future() throw std::logic_error.
template <class T = unit>
class promise {
 public:
  promise() : state_(detail::make_future_state<detail::future_state<T>>()) {}
  promise(promise&& from) noexcept = default;
  /// Ends what it promised so far, as the destructor does.
  promise& operator=(promise&& from) noexcept {
    promise taken(std::move(from));  // which keeps the state where from is *this
    std::swap(state_, taken.state_);
    return *this;
  }
  promise(const promise&) = delete;
  promise& operator=(const promise&) = delete;
  /// Without a value by then, the future has an error: std::logic_error.
  ~promise() {
    if (state_ != nullptr && !state_->is_ready()) {
      detail::tell_all(state_->put_error(detail::logic_error_of("filch: a promise ended without a value")));
    }
  }

  [[nodiscard]] future<T> get_future() const {
    static_cast<void>(*state_);
    return future<T>(state_);
  }

  /// Makes the value of these arguments. Tasks that wait for this future alone may begin.
  /// @throws std::logic_error when there is a value, or an error, already; what T's constructor throws.
  template <class... Args>
  void put(Args&&... args) {
    reject_second();
    detail::tell_all(state_->put(std::forward<Args>(args)...));
  }
  /// The future has no value: get() throws that.
  /// @throws std::logic_error as put(), and of a null pointer, which is no error.
  void put_error(std::exception_ptr error) {
    reject_second();
    if (error == nullptr) {
      throw std::logic_error(
          "filch: put_error() of a null pointer; std::current_exception() is one unless an exception is being handled");
    }
    detail::tell_all(state_->put_error(std::move(error)));
  }

 private:
  void reject_second() const {
    if (state_->is_ready()) throw std::logic_error("filch: put() of a promise that has a value; a promise takes one");
  }

  detail::future_user<detail::future_state<T>> state_;
};

template <class T>
  requires std::is_void_v<T>
class promise<T> {
  static_assert(!std::is_void_v<T>, "filch: a promise of nothing is a promise<>; void is no value");
};

namespace detail {

struct future_access {
  template <class T>
  [[nodiscard]] static const future_user<future_state<T>>& state(const future<T>& f) noexcept {
    return f.state_;
  }
  template <class T>
  [[nodiscard]] static future<T> made_of(future_user<future_state<T>> state) noexcept {
    return future<T>(std::move(state));
  }
};

/// Ready when all of some futures are. Keeps itself until then. Each(futures, f) calls f(state) for each of them. Count: how many there
/// are, or std::dynamic_extent.
template <class Futures, std::size_t Count, class Each>
class all_ready final : public future_state<Futures>, private future_parts {
 public:
  static future<Futures> make(Futures futures, std::size_t count, Each each) {
    auto made = detail::make_future_state<all_ready>(std::move(futures), count, each);
    made->self_ = future_holder(*made);
    std::size_t i = 0;
    each(made->futures_, [&](future_base& f) {
      if (!f.add(made->waiters_[i++])) detail::tell_all(made->one_ready());
    });
    detail::tell_all(made->one_ready());
    return future_access::made_of<Futures>(std::move(made));
  }
  all_ready(Futures futures, std::size_t count, Each each)
      : future_state<Futures>(nullptr, this), each_(each), futures_(std::move(futures)), left_(count + 1) {
    if constexpr (Count == std::dynamic_extent) waiters_ = std::make_unique<waiter[]>(count);
    for (std::size_t i = 0; i != count; ++i) {
      waiters_[i].tell = [](future_waiter& w) noexcept { return static_cast<waiter&>(w).of->one_ready(); };
      waiters_[i].of = this;
    }
  }

 private:
  struct waiter : future_waiter {
    all_ready* of = nullptr;
  };

  future_waiter* one_ready() noexcept {
    // [FU4] acq_rel: what the makers of all values did, for who sees that all are ready; what visitors did.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
    const future_holder last = std::move(self_);
    return this->put(std::move(futures_));
  }

  // As if one of them were not ready, so that nobody moves the futures away meanwhile.
  bool visit(const future_parts::visitor& f) override {
    std::size_t left = left_.load(std::memory_order_relaxed);
    do {
      if (left == 0) return false;
      // [FU4] relaxed: the futures have been there since this was made.
    } while (!left_.compare_exchange_weak(left, left + 1, std::memory_order_relaxed, std::memory_order_relaxed));
    struct visit_end {
      all_ready& of;
      ~visit_end() { detail::tell_all(of.one_ready()); }
    } const here{*this};
    bool any = false;
    each_(futures_, [&](future_base& part) { any = f(part) || any; });
    return any;
  }

  [[no_unique_address]] Each each_;
  Futures futures_;
  std::conditional_t<Count == std::dynamic_extent, std::unique_ptr<waiter[]>, std::array<waiter, Count>> waiters_;
  platform::atomic<std::size_t> left_;
  future_holder self_;
};

template <std::size_t Count, class Futures, class Each>
[[nodiscard]] future<Futures> make_all_ready(Futures futures, std::size_t count, Each each) {
  each(futures, [](future_base&) {});  // throws where one has no state, before others are told of anything
  return all_ready<Futures, Count, Each>::make(std::move(futures), count, each);
}

}  // namespace detail

/// Ready when all of these are, with a value or an error; its value are the futures.
/// @throws std::bad_alloc; std::logic_error when one is not valid().
template <class... Ts>
[[nodiscard]] future<std::tuple<future<Ts>...>> when_all(future<Ts>... all) {
  using futures = std::tuple<future<Ts>...>;
  return detail::make_all_ready<sizeof...(Ts)>(
      futures(std::move(all)...), sizeof...(Ts), [](futures& each, const auto& call) {
        std::apply([&](auto&... f) { (call(*detail::future_access::state(f)), ...); }, each);
      });
}
template <class T>
[[nodiscard]] future<std::vector<future<T>>> when_all(std::vector<future<T>> all) {
  const std::size_t count = all.size();
  return detail::make_all_ready<std::dynamic_extent>(std::move(all), count,
                                                     [](std::vector<future<T>>& each, const auto& call) {
                                                       for (const future<T>& f : each)
                                                         call(*detail::future_access::state(f));
                                                     });
}

}  // namespace filch
