// OpenMP tasks. Must be called inside a parallel region, by the thread of a `single`.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/filch.hpp>

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

  /// See serial_peer. OpenMP has nothing like it; this is what its users write: a stack per task, half of which becomes
  /// another task when it is long. (A task for each item would be run at once where there are many, to any depth.)
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing /*how*/) {
#pragma omp taskgroup
    process(std::vector<Item>{first}, body);
  }

 private:
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

}  // namespace filch::bench
