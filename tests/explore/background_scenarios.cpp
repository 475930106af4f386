#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "scenario.hpp"

namespace filch::explore {
namespace {

/// A thread submits and waits, and so does a task.
void explore_submit(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  payload results[4];
  const auto submit = [&](std::size_t i) {
    return pool.submit([&, i] {
      ran.ran(i);
      results[i].store(1);
      return 1;
    });
  };
  const auto submit_and_wait = [&](std::size_t first) {
    const future<int> one = submit(first);
    const future<int> two = submit(first + 1);
    check(one.get() + two.get() == 2, "a value got lost");
    check(results[first].load() == 1 && results[first + 1].load() == 1, "a result got lost");
  };
  in_parallel({[&] { submit_and_wait(0); }, [&] { pool.run([&] { submit_and_wait(2); }); }});
  ran.check_all();
}

/// Nobody waits; the scheduler ends.
void explore_left_behind(const options& chosen) {
  account ran(3);
  {
    scheduler pool(chosen);
    for (std::size_t i = 0; i < 2; ++i) {
      static_cast<void>(pool.submit([&, i] {
        ran.ran(i);
        if (i == 0) static_cast<void>(pool.submit([&] { ran.ran(2); }));
      }));
    }
  }
  ran.check_all();
}

/// A promise is kept by another thread while its future gets a continuation, is waited for, and both are waited for by all.
void explore_promise(const options& chosen) {
  scheduler pool(chosen);
  payload written;
  promise<int> given;
  const future<int> value = given.get_future();
  in_parallel({[&] {
                 pool.run([&] {
                   const future<int> next = value.then([&](int i) { return i + written.load(); });
                   const auto both = when_all(value, next);
                   check(std::get<1>(both.get()).get() == 3, "a continuation has another value");
                 });
               },
               [&] {
                 written.store(1);
                 given.put(2);
               }});
  check(value.get() == 2, "the value got lost");
}

/// A continuation begins as its scheduler ends: it runs, or has an error.
void explore_late_promise(const options& chosen) {
  promise<int> given;
  std::optional<future<int>> next;
  std::optional<scheduler> pool(std::in_place, chosen);
  pool->run([&] { next = given.get_future().then([](int i) { return i + 1; }); });
  in_parallel({[&] { pool.reset(); }, [&] { given.put(1); }});
  try {
    check(next->get() == 2, "a continuation has another value");
  } catch (const std::logic_error&) {
    // too late
  }
}

/// All workers are blocked until another task has run.
void explore_blocked(const options& chosen) {
  scheduler pool(chosen);
  payload written;
  pool.run([&] {
    for (int round = 0; round < 2; ++round) {
      promise<> opened;
      const future<> open = opened.get_future();
      const future<> opener = pool.submit([&] {
        written.store(round);
        opened.put();
      });
      open.wait();
      check(written.load() == round, "what was written before the promise got lost");
      opener.wait();
    }
  });
}

/// Each task waits for one that only another worker, or a spare thread, can run.
void explore_blocked_tasks(const options& chosen) {
  scheduler pool(chosen);
  account ran(2);
  pool.run([&] {
    promise<int> made;
    const future<int> value = made.get_future();
    fork_join(
        [&] {
          ran.ran(0);
          check(value.get() == 7, "another value");
        },
        [&] {
          ran.ran(1);
          made.put(7);
        });
  });
  ran.check_all();
}

}  // namespace

void add_background(scenario_list& to) {
  to.push_back({"submit", "two threads submit and wait", [] { explore_submit(small(2, "lace", "transitive")); }});
  to.push_back({"submit_alone", "the same, no other worker", [] { explore_submit(small(1, "lace", "transitive")); }});
  to.push_back(
      {"submit_receiver", "the same, private deques", [] { explore_submit(small(2, "receiver", "transitive")); }});
  to.push_back({"left_behind", "submitted tasks, and the scheduler ends",
                [] { explore_left_behind(small(2, "lace", "transitive")); }});
  to.push_back(
      {"promise", "a continuation, and the wait for all", [] { explore_promise(small(2, "lace", "transitive")); }});
  to.push_back({"late_promise", "a promise is kept as the scheduler ends",
                [] { explore_late_promise(small(2, "lace", "transitive")); }});
  to.push_back({"blocked", "a worker waits for a promise", [] { explore_blocked(small(1, "lace", "transitive")); }});
  to.push_back({"blocked_two", "the same, another worker", [] { explore_blocked(small(2, "lace", "transitive")); }});
  to.push_back({"blocked_branch", "a branch waits for its sibling",
                [] { explore_blocked_tasks(small(1, "lace", "transitive")); }});
}

}  // namespace filch::explore
