// OpenMP: tasks, and worksharing loops.
//
// openmp_peer must be called inside a parallel region, by the thread of a `single`.
// Its loops are taskloops, which nest, unlike `omp for`. Without a grain they have the number of tasks that OpenMP chooses
// itself, with libgomp one for each thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <omp.h>

#include <filch/filch.hpp>

#include "hinted.hpp"
#include "plain_repetition.hpp"
#include "serial_peer.hpp"
#include "value_of.hpp"

namespace filch::bench {

struct openmp_peer {
  /// g is the task and f runs here, as in filch; both live in this frame until the taskwait, so g is shared.
  template <class F, class G>
  static auto fork_join(F&& f, G&& g) {
    std::optional<value_of_t<G&>> second;
#pragma omp task default(none) shared(g, second)
    second.emplace(value_of(g));
    auto first = value_of(std::forward<F>(f));
#pragma omp taskwait
    return std::tuple(std::move(first), *std::move(second));
  }

  /// Groups nest strictly inside tasks, so that waiting for the current task's children waits for the group.
  class group {
   public:
    /// The closure is copied into the task: the caller's copy ends with the full expression.
    template <class F>
    void run(F&& closure) {
      std::decay_t<F> task(std::forward<F>(closure));
#pragma omp task default(none) firstprivate(task)
      task();
    }

    void wait() {
#pragma omp taskwait
    }
  };
  using hinted_group = hinted<group>;

  template <class Body>
  static void for_each_index(std::uint64_t n, const Body& body, std::uint64_t grain = 0) {
    if (grain == 0) {
#pragma omp taskloop default(none) shared(body) firstprivate(n)
      for (std::uint64_t i = 0; i < n; ++i) body(i);
    } else {
#pragma omp taskloop default(none) shared(body) firstprivate(n) grainsize(grain)
      for (std::uint64_t i = 0; i < n; ++i) body(i);
    }
  }

  /// By rows: the cells of a collapsed loop come one by one, which costs more than it is worth where cells are cheap.
  template <class Body>
  static void for_each_block(std::uint64_t rows, std::uint64_t columns, const Body& body) {
    if (columns == 0) return;
#pragma omp taskloop default(none) shared(body) firstprivate(rows, columns)
    for (std::uint64_t row = 0; row < rows; ++row) body(row, row + 1, std::uint64_t{0}, columns);
  }

  using repeated_part = plain_repetition;
  using repeated_loop = plain_repeated_loop<openmp_peer>;

  template <class Body>
  static void for_each_part(std::uint64_t parts, const Body& body) {
    for_each_index(parts, body, 1);
  }

  static int workers() { return omp_get_num_threads(); }
  static std::uintptr_t this_worker() { return static_cast<std::uintptr_t>(omp_get_thread_num()); }
  static constexpr bool prefers_loops = false;

  /// A taskloop's own reductions know the operators of the language only, so each part has a sum of its own here.
  template <class T, class Value, class Combine>
  static T reduce(std::uint64_t n, const T& identity, const Value& value, const Combine& combine,
                  std::uint64_t grain = 0) {
    const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
    const std::uint64_t parts = std::min(n, grain == 0 ? threads : std::max<std::uint64_t>(1, n / grain));
    std::vector<T> sums(static_cast<std::size_t>(parts), identity);
#pragma omp taskloop default(none) shared(value, combine, sums) firstprivate(n, parts) grainsize(1)
    for (std::uint64_t part = 0; part < parts; ++part) {
      T sum = std::move(sums[part]);
      const std::uint64_t end = n * (part + 1) / parts;
      for (std::uint64_t i = n * part / parts; i != end; ++i) sum = combine(std::move(sum), value(i));
      sums[part] = std::move(sum);
    }
    T total = identity;
    for (T& sum : sums) total = combine(std::move(total), std::move(sum));
    return total;
  }

  /// See serial_peer. OpenMP has nothing like it; this is what its users write: a stack per task, half of which becomes
  /// another task when it is long. (A task for each item would be run at once where there are many, to any depth.)
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing /*how*/) {
#pragma omp taskgroup
    process(std::vector<Item>{first}, body);
  }

  /// See serial_peer. As for_each_dynamic, for the reason given there.
  template <class Item, class Body>
  static void for_each_task(const Item& first, const Body& body) {
    for_each_dynamic(first, body, {});
  }

  /// See serial_peer, and for_each_dynamic.
  template <class Task>
  static void adaptive(Task&& task, std::size_t budget, termination /*end*/) {
#pragma omp taskgroup
    run_adaptive(task, budget);
  }

 private:
  template <class Task>
  static void run_adaptive(Task& task, std::size_t budget) {
    while (task.step(budget)) {
      if (task.size() < budget) continue;
      if (auto half = task.split()) {
        const auto part = std::make_shared<Task>(*std::move(half));
#pragma omp task default(none) firstprivate(part, budget)
        run_adaptive(*part, budget);
      }
    }
  }

  template <class Item, class Body>
  static void process(std::vector<Item> items, const Body& body) {
    constexpr std::size_t long_stack = 64;
    while (!items.empty()) {
      Item item = std::move(items.back());
      items.pop_back();
      body(item, [&](Item&& more) { items.push_back(std::move(more)); });
      if (items.size() < long_stack) continue;
      const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
      std::vector<Item> half(items.begin(), middle);
      items.erase(items.begin(), middle);
#pragma omp task default(none) shared(body) firstprivate(half)
      process(half, body);
    }
  }
};

enum class openmp_schedule { fixed, dynamic };

/// Worksharing loops, `omp parallel for` with schedule(static) or schedule(dynamic, 4). Must be called outside of parallel
/// regions, with the number of threads set. Loops inside of loops are serial, and so are tasks.
template <openmp_schedule Schedule>
struct openmp_loop_peer : openmp_peer {
  template <class Body>
  static void for_each_index(std::uint64_t n, const Body& body, std::uint64_t /*grain*/ = 0) {
    if constexpr (Schedule == openmp_schedule::fixed) {
      for_each_part(n, body);
    } else {
#pragma omp parallel for default(none) shared(body) firstprivate(n) schedule(dynamic, 4)
      for (std::uint64_t i = 0; i < n; ++i) body(i);
    }
  }

  template <class Body>
  static void for_each_block(std::uint64_t rows, std::uint64_t columns, const Body& body) {
    if (columns == 0) return;
    for_each_index(rows, [&](std::uint64_t row) { body(row, row + 1, std::uint64_t{0}, columns); });
  }

  using repeated_part = plain_repetition;
  using repeated_loop = plain_repeated_loop<openmp_loop_peer>;

  template <class Body>
  static void for_each_part(std::uint64_t parts, const Body& body) {
#pragma omp parallel for default(none) shared(body) firstprivate(parts) schedule(static)
    for (std::uint64_t i = 0; i < parts; ++i) body(i);
  }

  static int workers() { return omp_get_max_threads(); }
  static constexpr bool prefers_loops = true;

  /// Combined in order, so with a part for each thread.
  template <class T, class Value, class Combine>
  static T reduce(std::uint64_t n, const T& identity, const Value& value, const Combine& combine,
                  std::uint64_t /*grain*/ = 0) {
    const std::uint64_t parts = std::min(n, static_cast<std::uint64_t>(workers()));
    std::vector<T> sums(static_cast<std::size_t>(parts), identity);
    for_each_part(parts, [&](std::uint64_t part) {
      const std::uint64_t begin = n * part / parts;
      sums[part] = serial_peer::reduce(
          n * (part + 1) / parts - begin, identity, [&](std::uint64_t i) { return value(begin + i); }, combine);
    });
    T total = identity;
    for (T& sum : sums) total = combine(std::move(total), std::move(sum));
    return total;
  }
};

using openmp_static_peer = openmp_loop_peer<openmp_schedule::fixed>;
using openmp_dynamic_peer = openmp_loop_peer<openmp_schedule::dynamic>;

}  // namespace filch::bench
