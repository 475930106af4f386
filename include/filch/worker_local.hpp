// worker_local: a value for each worker of a scheduler.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/detail/worker_core.hpp>
#include <filch/scheduler.hpp>

namespace filch {

/// A value for each worker of one scheduler, guests included, made when the worker first asks for it.
///
/// A task that waits may let its worker run other tasks, which see the same value: so keep no reference to it across
/// fork_join, a loop, or wait(). For results prefer parallel_reduce, which needs no such care and has the same bits in each
/// run.
///
/// Thread safety: local() by any worker; the rest while no task uses it.
template <class T>
class worker_local {
 public:
  /// For the scheduler of the calling worker, or the default scheduler. `make()` makes a value, or each is a copy of
  /// `initial`; by default T().
  /// @throws std::bad_alloc; what starting the default scheduler throws.
  worker_local() : worker_local(this_worker().home_or_default()) {}
  explicit worker_local(scheduler& of) : worker_local(of, [] { return T(); }) {}
  template <class Make>
    requires std::is_invocable_r_v<T, Make&>
  explicit worker_local(Make make) : worker_local(this_worker().home_or_default(), std::move(make)) {}
  template <class Make>
    requires std::is_invocable_r_v<T, Make&>
  worker_local(scheduler& of, Make make)
      : of_(&of.core()), make_(std::move(make)), values_(static_cast<std::size_t>(of.most_indices())) {}

  explicit worker_local(const T& initial)
    requires std::is_copy_constructible_v<T>
      : worker_local(this_worker().home_or_default(), initial) {}
  worker_local(scheduler& of, const T& initial)
    requires std::is_copy_constructible_v<T>
      : worker_local(of, [initial] { return initial; }) {}

  /// The calling worker's value. Two comparisons; the first time, make() and an allocation.
  /// @throws std::logic_error when the calling thread is no worker of the scheduler; what make() throws.
  T& local() {
    const detail::worker_core& w = *detail::self;
    const int index = w.home == of_ ? w.number : detail::index_in(*of_);  // inside of another scheduler's task
    if (index < 0) {
      throw std::logic_error(
          "filch: local() of a worker_local by a thread that is no worker of its scheduler; call it in a task, or "
          "inside of run()");
    }
    std::unique_ptr<value>& mine = values_[static_cast<std::size_t>(index)];
    if (mine == nullptr) {
      auto made = std::make_unique<value>(make_);
      if (mine == nullptr)
        mine = std::move(made);  // else make() has forked, and another task of this worker came first
    }
    return mine->of;
  }

  /// Calls f with each value there is, in the order of the workers' indices.
  template <class F>
  void for_each(F&& f) {
    for (const std::unique_ptr<value>& each : values_) {
      if (each != nullptr) std::invoke(f, each->of);
    }
  }
  template <class F>
  void for_each(F&& f) const {
    for (const std::unique_ptr<value>& each : values_) {
      if (each != nullptr) std::invoke(f, std::as_const(each->of));
    }
  }
  /// combine(combine(first, second), third) ... in the order of the workers' indices; what make() makes if there is none.
  template <class Combine>
  [[nodiscard]] T combine(Combine&& combine) const {
    std::optional<T> all;
    for_each([&](const T& each) {
      if (all) {
        *all = std::invoke(combine, std::move(*all), each);
      } else {
        all.emplace(each);
      }
    });
    return all ? std::move(*all) : make_();
  }
  /// Workers that have a value.
  [[nodiscard]] std::size_t size() const {
    std::size_t count = 0;
    for_each([&](const T& /*each*/) { ++count; });
    return count;
  }
  /// Destroys all values.
  void clear() noexcept {
    for (std::unique_ptr<value>& each : values_) each.reset();
  }

 private:
  /// Neighbours' values are on other cache lines.
  struct alignas(128) value {
    explicit value(const std::function<T()>& make) : of(make()) {}
    T of;
  };

  const detail::scheduler_core* of_;
  std::function<T()> make_;
  std::vector<std::unique_ptr<value>> values_;
};

}  // namespace filch
