#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "platform/clock.hpp"
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

/// The same, and one of the tasks blocks until the other has run.
void explore_left_blocked(const options& chosen) {
  account ran(2);
  promise<> opened;
  const future<> open = opened.get_future();
  {
    scheduler pool(chosen);
    static_cast<void>(pool.submit([&] {
      open.wait();
      ran.ran(0);
    }));
    static_cast<void>(pool.submit([&] {
      opened.put();
      ran.ran(1);
    }));
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

/// Two threads wait for the last of a few continuations, and run what these wait for, or a worker does.
void explore_chain(const options& chosen, bool from_outside) {
  scheduler pool(chosen);
  account ran(3);
  payload written;
  future<int> last;
  // Continuations are the scheduler's of the worker that makes them.
  pool.run([&] {
    last = pool.submit([&] {
                 ran.ran(0);
                 written.store(1);
                 return 1;
               })
               .then([&](int i) {
                 ran.ran(1);
                 return i + written.load();
               })
               .then([&](int i) {
                 ran.ran(2);
                 return i + written.load();
               });
  });
  const auto use = [&] { check(last.get() == 3, "a continuation has another value"); };
  if (from_outside) {
    in_parallel({use, use});
  } else {
    pool.run([&] { fork_join(use, use); });
  }
  ran.check_all();
}

/// Two threads keep a promise each; a continuation waits for both, and sees what either did before.
void explore_both(const options& chosen) {
  scheduler pool(chosen);
  payload before_one;
  payload before_other;
  promise<> one;
  promise<> other;
  future<int> sum;
  pool.run([&] {
    sum = when_all(one.get_future(), other.get_future()).then([&] { return before_one.load() + before_other.load(); });
  });
  in_parallel({[&] { check(sum.get() == 3, "what came before a promise got lost"); },
               [&] {
                 before_one.store(1);
                 one.put();
               },
               [&] {
                 before_other.store(2);
                 other.put();
               }});
}

/// A value that says when it ends. Moved, not copied.
class ending_value {
 public:
  explicit ending_value(payload& ends) noexcept : ends_(&ends) {}
  ending_value(ending_value&& from) noexcept : ends_(std::exchange(from.ends_, nullptr)) {}
  ending_value& operator=(ending_value&&) = delete;
  ~ending_value() {
    content_.store(0);
    if (ends_ != nullptr) ends_->store(ends_->load() + 1);
  }
  [[nodiscard]] int content() const { return static_cast<int>(content_.load()); }

 private:
  payload* ends_;
  payload content_{7};
};

/// Two threads have the future of a task: its value ends with the second of them, whatever else has the task still. Who comes
/// second may end at once what the value refers to.
void explore_ending(const options& chosen, bool by_worker) {
  scheduler pool(chosen);
  account last(1);
  payload ends(0);
  platform::atomic<int> left{2};
  future<ending_value> one = pool.submit([&] { return ending_value(ends); });
  future<ending_value> other = one;
  const auto drop = [&](future<ending_value>& own) {
    check(own.get().content() == 7, "a value got lost");
    own = {};
    if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    last.ran(0);
    check(ends.load() == 1, "a value has not ended with its last future");
    ends.store(0);
  };
  const auto drop_one = [&] { drop(one); };
  const auto drop_other = [&] { drop(other); };
  if (by_worker) {
    in_parallel({[&] { pool.run(drop_one); }, drop_other});
  } else {
    in_parallel({drop_one, drop_other});
  }
  last.check_all();
}

/// A future is dropped as its value comes, of a task or of a promise: the value ends once.
void explore_dropped(const options& chosen) {
  payload of_task(0);
  payload of_promise(0);
  {
    scheduler pool(chosen);
    promise<ending_value> given;
    std::optional<future<ending_value>> value = given.get_future();
    in_parallel({[&] { value.reset(); },
                 [&] {
                   given.put(of_promise);
                   given = {};
                 },
                 [&] { static_cast<void>(pool.submit([&] { return ending_value(of_task); })); }});
    check(of_promise.load() == 1, "the value of a promise has not ended");
  }
  check(of_task.load() == 1, "the value of a task has not ended");
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

/// All workers are blocked until another task has run; or this one is already, so that the thread in its place may be asleep,
/// when it submits that.
void explore_blocked(const options& chosen, bool is_before = false) {
  scheduler pool(chosen);
  payload written;
  pool.run([&] {
    std::optional<blocking> before;
    if (is_before) before.emplace();
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

/// A worker waits in a task that it was given for another one that it is given. Twice, so that the thread of the first region
/// may begin late.
void explore_blocked_and_given(const options& chosen) {
  scheduler pool(chosen);
  account ran(6);
  pool.run([&] {
    for (std::size_t first = 0; first < 6; first += 3) {
      promise<> opened;
      const future<> open = opened.get_future();
      task_group g(6);
      g.run(
          [&] {
            open.wait();
            ran.ran(first);
          },
          1);
      // The caller runs it at once, and gives its first branch to the same worker.
      g.run([&] { fork_join([&] { opened.put(); }, [&] { ran.ran(first + 1); }); }, 3);
      g.run([&] { ran.ran(first + 2); }, 1);
      g.wait();
    }
  });
  ran.check_all();
}

/// Both workers are blocked until a part of a static loop has run that was given to one of them. Which of the two comes first, what
/// it is given or its being blocked, is open.
void explore_part_of_blocked(const options& chosen) {
  scheduler pool(chosen);
  account ran(2);
  promise<> opened;
  const future<> open = opened.get_future();
  const future<> blocked = pool.submit([&] { open.wait(); });
  pool.run([&] {
    parallel_for(
        std::size_t{0}, std::size_t{2},
        [&](std::size_t part) {
          if (part == 1) {
            opened.put();
          } else {
            open.wait();
          }
          ran.ran(part);
        },
        loop::fixed{});
  });
  blocked.wait();
  ran.check_all();
}

/// The same, but the part is that of a worker that goes on for a while, and then waits for one that is blocked. All others may be
/// asleep by then.
void explore_part_of_waiting(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  promise<> opened;
  const future<> open = opened.get_future();
  platform::atomic<std::size_t> waiter{0};
  platform::atomic<bool> given{false};
  const future<> blocked = pool.submit([&] { open.wait(); });
  const future<> waits = pool.submit([&] {
    waiter.store(std::min(static_cast<std::size_t>(this_worker().index), std::size_t{2}), std::memory_order_release);
    while (!given.load(std::memory_order_acquire)) platform::pause();
    blocked.wait();
  });
  pool.run([&] {
    while (waiter.load(std::memory_order_acquire) == 0) platform::pause();
    parallel_for(
        std::size_t{0}, std::size_t{3},
        [&](std::size_t part) {
          ran.ran(part);
          if (part == waiter.load(std::memory_order_relaxed)) return opened.put();
          if (part != 0) return;
          given.store(true, std::memory_order_release);
          open.wait();
        },
        loop::fixed{});
  });
  waits.wait();
  ran.check_all();
}

/// A worker waits for a task that waits for what the caller does after a loop, of which both were given parts.
void explore_waiting_and_given(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  promise<> opened;
  const future<> open = opened.get_future();
  platform::atomic<bool> begun{false};
  platform::atomic<bool> waits{false};
  const auto await = [](const platform::atomic<bool>& flag) {
    while (!flag.load(std::memory_order_acquire)) platform::pause();
  };
  const future<> outer = pool.submit([&] {
    const future<> inner = pool.submit([&] {
      begun.store(true, std::memory_order_release);
      open.wait();
    });
    await(begun);
    waits.store(true, std::memory_order_release);
    inner.wait();
  });
  await(waits);
  pool.run([&] { parallel_for(std::size_t{0}, std::size_t{3}, [&](std::size_t i) { ran.ran(i); }, loop::fixed{}); });
  opened.put();
  outer.wait();
  ran.check_all();
}

/// A scheduler's only thread waits, in another one, for what needs a thread of the first.
void explore_blocked_around(const options& outer_options, const options& inner_options) {
  scheduler outer(outer_options);
  scheduler inner(inner_options);
  payload sum;
  platform::atomic<bool> ended{false};
  static_cast<void>(outer.submit([&] {
    sum.store(inner.run([&] {
      const auto [one, two] = fork_join(
          [] { return 1; }, [&] { return outer.submit([] { return 1; }).then([](int i) { return i + 1; }).get(); });
      return one + two;
    }));
    ended.store(true, std::memory_order_release);
  }));
  while (!ended.load(std::memory_order_acquire)) platform::pause();
  check(sum.load() == 3, "a value got lost");
}

/// A task waits for one that only another worker, or a spare thread, can run. Twice: the thread is the same.
void explore_blocked_tasks(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  pool.run([&] {
    for (std::size_t round = 0; round < 2; ++round) {
      promise<int> made;
      const future<int> value = made.get_future();
      fork_join(
          [&] {
            ran.ran(2 * round);
            check(value.get() == 7, "another value");
          },
          [&] {
            ran.ran(2 * round + 1);
            made.put(7);
          });
    }
  });
  ran.check_all();
}

/// A task waits for one that is blocked until a third has run, for which somebody has to be left. Several do so, and further
/// threads come and go meanwhile.
void explore_wait_for_blocked(const options& chosen, std::size_t waiters, std::size_t guests) {
  scheduler pool(chosen);
  account ran(waiters + 2);
  const auto wait_for_blocked = [&] {
    pool.run([&] {
      promise<> opened;
      const future<> open = opened.get_future();
      const future<> blocked = pool.submit([&] {
        open.wait();
        ran.ran(0);
      });
      std::vector<future<>> others;
      for (std::size_t i = 0; i < waiters; ++i) {
        others.push_back(pool.submit([&, i] {
          blocked.wait();
          ran.ran(i + 1);
        }));
      }
      others.push_back(pool.submit([&] {
        opened.put();
        ran.ran(waiters + 1);
      }));
      blocked.wait();
      for (const future<>& each : others) each.wait();
    });
  };
  std::vector<std::function<void()>> parts(1 + guests, [&] { pool.run([] {}); });
  parts.front() = wait_for_blocked;
  in_parallel(parts);
  ran.check_all();
}

/// The oldest task of a group opens something, and its worker has shown it to nobody; what is made above it waits for that.
void explore_waits_for_oldest(const options& chosen, std::size_t tasks,
                              const std::function<void(task_group&, const future<>&, account&)>& make_above) {
  scheduler pool(chosen);
  account ran(tasks);
  pool.run([&] {
    promise<> opened;
    const future<> open = opened.get_future();
    task_group group;
    group.run([&] {
      ran.ran(0);
      opened.put();
    });
    make_above(group, open, ran);
    group.wait();
  });
  ran.check_all();
}

/// The newest task of the group waits. The one between is run by either.
void explore_blocked_row(const options& chosen) {
  explore_waits_for_oldest(chosen, 3, [](task_group& group, const future<>& open, account& ran) {
    group.run([&] { ran.ran(1); });
    group.run([&] {
      open.wait();
      ran.ran(2);
    });
  });
}

/// A detached task waits, and the group's worker for it. That was asked for its tasks when nobody was blocked.
void explore_blocked_above(const options& chosen) {
  explore_waits_for_oldest(chosen, 2, [](task_group& /*group*/, const future<>& open, account& ran) {
    const auto on_heap = std::make_unique<task_group>();
    on_heap->run([&] {
      open.wait();
      ran.ran(1);
    });
    on_heap->wait();
  });
}

/// A worker blocks again, inside of a task of the thread that was begun in its place, which waits for that then.
void explore_blocked_again(const options& chosen) {
  scheduler pool(chosen);
  account ran(3);
  pool.run([&] {
    promise<> begun;
    promise<> opened;
    const future<> has_begun = begun.get_future();
    const future<> open = opened.get_future();
    const future<> opener = pool.submit([&] {
      opened.put();
      ran.ran(0);
    });
    fork_join([&] { has_begun.wait(); },
              [&] {
                begun.put();
                fork_join([&] { ran.ran(1); },
                          [&] {
                            open.wait();
                            ran.ran(2);
                          });
              });
    opener.wait();
  });
  ran.check_all();
}

/// A diamond whose tasks leave values for those after them; three times, the second time with a task that throws.
void explore_graph(const options& chosen) {
  scheduler pool(chosen);
  task_graph graph;
  payload begun;
  payload of_left;
  payload of_right;
  payload ends;
  ends.store(0);
  int round = 0;
  const auto first = graph.add([&] { begun.store(round); });
  const auto left = graph.add([&] { of_left.store(begun.load() + 1); }, {first});
  const auto right = graph.add(
      [&] {
        of_right.store(begun.load() + 2);
        if (round == 1) throw round;
      },
      {first});
  graph.add(
      [&] {
        check(of_left.load() == round + 1 && of_right.load() == round + 2, "a value got lost");
        ends.store(ends.load() + 1);
      },
      {left, right});
  pool.run([&] {
    for (; round < 3; ++round) {
      bool failed = false;
      try {
        graph.run();
      } catch (int /*of_right*/) {
        failed = true;
      }
      check(failed == (round == 1), "an exception got lost, or was made");
      check(ends.load() == (round < 2 ? 1 : 2), "the last task ran too often, or not at all");
    }
  });
}

/// Items of a pipeline pass a stage one at a time, and then another one in order. The source, the stages and the items have
/// data of their own; an item's is used again for the one that comes `most` later.
template <int Most>
void explore_pipeline(const options& chosen, int items) {
  scheduler pool(chosen);
  account ran(static_cast<std::size_t>(items));
  payload of_items[Most];
  payload given;
  payload passed;
  payload ended;
  given.store(0);
  passed.store(0);
  ended.store(0);
  pool.run([&] {
    pipeline(
        Most,
        [&]() -> std::optional<int> {
          const int next = given.load();
          if (next == items) return std::nullopt;
          given.store(next + 1);
          of_items[next % Most].store(next);
          return next;
        },
        parallel([&](int i) {
          ran.ran(static_cast<std::size_t>(i));
          of_items[i % Most].store(of_items[i % Most].load() + 1);
          return i;
        }),
        serial([&](int i) {
          check(of_items[i % Most].load() == i + 1, "an item's data got lost");
          passed.store(passed.load() + 1);
          return i;
        }),
        serial_in_order([&](int i) {
          check(ended.load() == i, "an item came out of order");
          check(of_items[i % Most].load() == i + 1, "an item's data got lost");
          ended.store(i + 1);
        }));
  });
  check(passed.load() == items && ended.load() == items, "an item got lost");
  ran.check_all();
}

/// Workers are kept awake while there is something to do.
void explore_warm(const options& chosen) {
  scheduler pool(chosen);
  account ran(2);
  pool.run([&] {
    const keep_warm here(pool);
    fork_join([&] { ran.ran(0); }, [&] { ran.ran(1); });
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
  to.push_back({"left_blocked", "the same, and one blocks until the other has run",
                [] { explore_left_blocked(small(1, "lace", "transitive")); }});
  to.push_back(
      {"left_blocked_two", "the same, another worker", [] { explore_left_blocked(small(2, "lace", "transitive")); }});
  to.push_back(
      {"promise", "a continuation, and the wait for all", [] { explore_promise(small(2, "lace", "transitive")); }});
  for (const int workers : {1, 2}) {
    const std::string n = std::to_string(workers);
    to.push_back({"chain_outside_" + n, "threads outside wait for continuations, workers: " + n,
                  [=] { explore_chain(small(workers, "lace", "transitive"), true); }});
    to.push_back({"chain_inside_" + n, "branches wait for continuations, workers: " + n,
                  [=] { explore_chain(small(workers, "lace", "transitive"), false); }});
    to.push_back({"ending_outside_" + n, "a value ends with the last future, of threads outside, workers: " + n,
                  [=] { explore_ending(small(workers, "lace", "transitive"), false); }});
    to.push_back({"ending_inside_" + n, "the same, of a worker and a thread outside, workers: " + n,
                  [=] { explore_ending(small(workers, "lace", "transitive"), true); }});
  }
  to.push_back({"both_promises", "a continuation of two futures of two threads",
                [] { explore_both(small(1, "lace", "transitive")); }});
  to.push_back(
      {"dropped", "futures are dropped as they become ready", [] { explore_dropped(small(2, "lace", "transitive")); }});
  to.push_back({"late_promise", "a promise is kept as the scheduler ends",
                [] { explore_late_promise(small(2, "lace", "transitive")); }});
  to.push_back({"blocked", "a worker waits for a promise", [] { explore_blocked(small(1, "lace", "transitive")); }});
  to.push_back({"blocked_two", "the same, another worker", [] { explore_blocked(small(2, "lace", "transitive")); }});
  to.push_back({"blocked_before", "the same, and it was blocked when it submitted the task that keeps it",
                [] { explore_blocked(small(1, "lace", "transitive"), true); }});
  to.push_back({"blocked_before_adws", "the same, nobody may steal anything",
                [] { explore_blocked(small(2, "adws_nosteal", "transitive"), true); }});
  to.push_back({"blocked_and_given", "a worker waits in a task that it was given for the next",
                [] { explore_blocked_and_given(small(2, "adws_nosteal", "transitive")); }});
  to.push_back({"waiting_and_given", "a worker waits for a future, and is given a part of a loop",
                [] { explore_waiting_and_given(small(3, "adws_nosteal", "transitive")); }});
  for (const std::string policy : {"lace", "adws"}) {
    to.push_back({"part_of_blocked_" + policy, "workers wait for a part of a static loop, policy " + policy,
                  [=] { explore_part_of_blocked(small(2, policy, "transitive")); }});
  }
  to.push_back({"part_of_waiting", "workers wait for a part of a static loop of one that waits for another",
                [] { explore_part_of_waiting(small(3, "lace", "transitive")); }});
  to.push_back({"blocked_around", "a worker waits in a scheduler inside of its own",
                [] { explore_blocked_around(small(1, "lace", "transitive"), small(2, "lace", "transitive")); }});
  to.push_back({"blocked_branch", "a branch waits for its sibling",
                [] { explore_blocked_tasks(small(1, "lace", "transitive")); }});
  for (const std::string policy : {"standard", "lazy_breadth", "receiver", "sender", "adws", "adws_nosteal"}) {
    to.push_back({"blocked_row_" + policy, "a group's newest task waits for the oldest, policy " + policy,
                  [=] { explore_blocked_row(small(1, policy, "transitive")); }});
    to.push_back({"blocked_row_two_" + policy, "the same, another worker",
                  [=] { explore_blocked_row(small(2, policy, "transitive")); }});
    to.push_back({"blocked_above_" + policy, "a task waits for an older one of its waiter, policy " + policy,
                  [=] { explore_blocked_above(small(2, policy, "transitive")); }});
  }
  to.push_back({"blocked_again", "a worker is blocked in a task of the thread in its place",
                [] { explore_blocked_again(small(1, "lace", "transitive")); }});
  for (const int workers : {1, 2}) {
    const std::string n = std::to_string(workers);
    to.push_back({"wait_for_blocked_" + n, "two tasks wait for a blocked one, workers: " + n,
                  [=] { explore_wait_for_blocked(small(workers, "lace", "transitive"), 2, 0); }});
    to.push_back({"wait_for_blocked_beside_guest_" + n, "the same, another thread comes and goes, workers: " + n,
                  [=] { explore_wait_for_blocked(small(workers, "lace", "transitive"), 1, 1); }});
  }
  to.push_back({"task_graph", "a diamond, run again after it has failed",
                [] { explore_graph(small(2, "lace", "transitive")); }});
  to.push_back({"pipeline", "three items, two at a time, through two serial stages",
                [] { explore_pipeline<2>(small(2, "lace", "transitive"), 3); }});
  to.push_back({"pipeline_three", "four items, three at a time, three workers",
                [] { explore_pipeline<3>(small(3, "lace", "transitive"), 4); }});
  to.push_back(
      {"kept_warm", "a fork while nobody may fall asleep", [] { explore_warm(small(2, "lace", "transitive")); }});
}

}  // namespace filch::explore
