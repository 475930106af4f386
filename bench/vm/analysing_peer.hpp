// The serial elision that measures work, span and branching depth of what it runs. Everything costs what it costs under
// charged_peer on one worker.
//
// A group's tasks fork off one after the other, iterations of loops as loop_span says. An item of a bag is one fork
// below the item that has added it. An adaptive task is split after each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/filch.hpp>

#include "charged_peer.hpp"
#include "hinted.hpp"
#include "plain_repetition.hpp"
#include "span.hpp"
#include "value_of.hpp"

namespace filch::bench {

struct analysing_peer {
  template <class F, class G>
  static auto fork_join(F&& f, G&& g) {
    spawn.done();
    return fork(std::forward<F>(f), std::forward<G>(g));
  }

  class group {
   public:
    template <class F>
    void run(F&& closure) {
      spawn.done();
      const path at = recorder.now().forked();
      recorder.go_to(at);
      std::forward<F>(closure)();
      end_.meet(recorder.now());
      recorder.go_to(at);
    }
    void wait() {
      path here = recorder.now();
      here.meet(end_);
      recorder.go_to(here);
    }

   private:
    path end_{};
  };
  using hinted_group = hinted<group>;

  template <class Body>
  static void for_each_index(std::uint64_t n, const Body& body, std::uint64_t grain = 0) {
    spawn.done();
    loop_span loop(grain);
    for (std::uint64_t i = 0; i < n; ++i) {
      body(i);
      loop.iteration_done();
    }
    loop.end();
  }

  template <class Body>
  static void for_each_block(std::uint64_t rows, std::uint64_t columns, const Body& body) {
    spawn.done();
    block(0, rows, 0, columns, body);
  }

  using repeated_part = plain_repetition;
  using repeated_loop = plain_repeated_loop<analysing_peer>;

  template <class Body>
  static void for_each_part(std::uint64_t parts, const Body& body) {
    for_each_index(parts, body, 1);
  }

  static int workers() { return 1; }
  static std::uintptr_t this_worker() { return 0; }
  static constexpr bool prefers_loops = false;

  template <class T, class Value, class Combine>
  static T reduce(std::uint64_t n, const T& identity, const Value& value, const Combine& combine,
                  std::uint64_t grain = 0) {
    spawn.done();
    loop_span loop(detail::leaf_size<T>(n, grain));  // as filch::parallel_reduce
    T sum = identity;
    for (std::uint64_t i = 0; i < n; ++i) {
      sum = combine(std::move(sum), value(i));
      loop.iteration_done();
    }
    loop.end();
    return sum;
  }

  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing /*how*/) {
    path end = recorder.now();
    std::vector<std::pair<Item, path>> items;
    items.emplace_back(first, end);
    while (!items.empty()) {
      auto [item, from] = std::move(items.back());
      items.pop_back();
      recorder.go_to(from);
      body(item, [&](Item&& more) { items.emplace_back(std::move(more), recorder.now().forked()); });
      end.meet(recorder.now());
    }
    recorder.go_to(end);
  }

  template <class Item, class Body>
  static void for_each_task(const Item& first, const Body& body) {
    const auto charged = [&](Item item, auto&& push) {
      spawn.done();
      body(item, push);
    };
    for_each_dynamic(first, charged, {});
  }

  template <class Task>
  static void adaptive(Task&& task, std::size_t budget, termination /*end*/) {
    spawn.done();
    path end = recorder.now();
    std::vector<std::pair<std::remove_cvref_t<Task>, path>> tasks;
    tasks.emplace_back(std::forward<Task>(task), end);
    while (!tasks.empty()) {
      auto [now, from] = std::move(tasks.back());
      tasks.pop_back();
      recorder.go_to(from);
      while (now.step(budget)) {
        if (auto half = now.split()) {
          const path at = recorder.now().forked();
          tasks.emplace_back(std::move(*half), at);
          recorder.go_to(at);
        }
      }
      end.meet(recorder.now());
    }
    recorder.go_to(end);
  }

 private:
  template <class F, class G>
  static auto fork(F&& f, G&& g) {
    const path at = recorder.now().forked();
    recorder.go_to(at);
    auto first = value_of(std::forward<F>(f));
    const path first_end = recorder.now();
    recorder.go_to(at);
    auto second = value_of(std::forward<G>(g));
    path end = recorder.now();
    end.meet(first_end);
    recorder.go_to(end);
    return std::tuple(std::move(first), std::move(second));
  }

  // The longer side is halved. A body cannot be asked how long it will take, so this ends at a size.
  template <class Body>
  static void block(std::uint64_t row, std::uint64_t row_end, std::uint64_t column, std::uint64_t column_end,
                    const Body& body) {
    constexpr std::uint64_t side = 16;
    const std::uint64_t rows = row_end - row;
    const std::uint64_t columns = column_end - column;
    if (rows <= side && columns <= side) {
      if (rows != 0 && columns != 0) body(row, row_end, column, column_end);
    } else if (rows >= columns) {
      fork([&] { block(row, row + rows / 2, column, column_end, body); },
           [&] { block(row + rows / 2, row_end, column, column_end, body); });
    } else {
      fork([&] { block(row, row_end, column, column + columns / 2, body); },
           [&] { block(row, row_end, column + columns / 2, column_end, body); });
    }
  }
};

}  // namespace filch::bench
