// Tasks at several places, which the virtual network connects: docs/protocols/success-only.md, termination.md.
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <filch/detail/run_place.hpp>
#include <filch/places.hpp>
#include <filch/vm/places.hpp>

#include "places/memory_network.hpp"
#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

/// Works for as long as it takes others to have a look.
void linger() {
  for (int i = 0; i < 3; ++i) platform::pause();
}

/// A task that cannot travel, which shows when it has been written for a while.
struct stubborn {
  std::function<void()> f;
  void operator()() const { f(); }
};

}  // namespace
}  // namespace filch::explore

template <>
struct filch::places::closure_codec<filch::explore::stubborn> {
  static void write(const explore::stubborn& /*f*/, std::vector<std::byte>& /*to*/) {
    explore::linger();
    throw std::runtime_error("this task stays");
  }
  static explore::stubborn read(std::span<const std::byte> /*from*/) { return {}; }
};

namespace filch::explore {
namespace {

namespace places = filch::places;
using platform::vm::at_each_node;

/// A place with few workers, all of whose tasks may be stolen.
places::options tiny(int workers, std::string policy, std::string communication = "shared") {
  return {.scheduler = small(workers, "lace", "transitive"),
          .policy = std::move(policy),
          .communication = std::move(communication),
          .threshold = 0};
}

/// A place for each of the options.
using set_up = std::vector<places::options>;

set_up alike(std::size_t count, const places::options& chosen) { return {count, chosen}; }

void run_places(const set_up& chosen, const std::function<void()>& main) {
  at_each_node(static_cast<int>(chosen.size()), [&] {
    const auto node = static_cast<std::size_t>(platform::vm::world::current()->node());
    vm::run_place(chosen[node], [&] {
      main();
      return 0;
    });
  });
}

/// The same, connected by memory.
void run_places_of_hub(const set_up& chosen, const std::function<void()>& main) {
  detail::places::memory_hub hub(static_cast<int>(chosen.size()));
  at_each_node(static_cast<int>(chosen.size()), [&] {
    const int node = platform::vm::world::current()->node();
    detail::places::run_place(*hub.connect(node), chosen[static_cast<std::size_t>(node)], [&] {
      main();
      return 0;
    });
  });
}

std::size_t here() { return static_cast<std::size_t>(places::here()); }

/// What the tasks of a finish have done: each once, and seen by all after its end.
class deeds {
 public:
  explicit deeds(std::size_t tasks) : ran_(tasks), done_(tasks) {}
  void run(std::size_t task) {
    ran_.ran(task);
    done_[task].store(1);
  }
  /// After the finish, at any place.
  void check_all() const {
    ran_.check_all();
    for (const payload& each : done_) check(each.load() == 1, "what a task has done got lost");
  }

 private:
  account ran_;
  std::vector<payload> done_;
};

/// A flag that is waited for without a word: whoever is to set it must come by itself.
class signal {
 public:
  void set() { begun_.store(true, std::memory_order_release); }
  void wait() const {
    while (!begun_.load(std::memory_order_acquire)) platform::pause();
  }

 private:
  platform::atomic<bool> begun_{false};
};

/// Place 0 makes tasks and works on: one of them must be stolen meanwhile.
void explore_theft(const set_up& chosen, std::size_t tasks) {
  deeds all(tasks);
  signal stolen;
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      if (here() != 0) return;
      for (std::size_t i = 0; i < tasks; ++i) {
        places::async_any([&all, &stolen, i] {
          if (here() != 0) stolen.set();
          all.run(i);
        });
      }
      stolen.wait();
    });
    all.check_all();
  });
}

/// A task that another place wants, and that cannot be written, is taken out and put back: somebody here must run it.
void explore_stubborn(const set_up& chosen) {
  signal ran;
  signal quick;
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      if (here() != 0) return;
      places::async_at(0, [&quick] {
        quick.wait();
        linger();
      });
      linger();
      places::async_any(stubborn{[&ran] { ran.set(); }});
      quick.set();
      ran.wait();
    });
  });
}

/// A task that makes two smaller ones.
struct tree_task {
  deeds* all;
  std::size_t number;
  std::size_t tasks;
  void operator()() const {
    for (const std::size_t child : {2 * number + 1, 2 * number + 2}) {
      if (child < tasks) places::async_any(tree_task{all, child, tasks});
    }
    linger();
    all->run(number);
  }
};

void explore_tree(const set_up& chosen, std::size_t tasks) {
  deeds all(tasks);
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      if (here() == 0) places::async_any(tree_task{&all, 0, tasks});
    });
    all.check_all();
  });
}

/// Place 1 has tasks, and then none, but perhaps a thief; that one gets tasks by another way, which place 1 wants.
void explore_cyclic(const set_up& chosen) {
  static constexpr std::size_t tasks = 3;
  deeds all(2 * tasks);
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      if (here() != 1) return;
      for (std::size_t i = tasks; i < 2 * tasks; ++i) places::async_any([&all, i] { all.run(i); });
      linger();
      places::async_at(0, [&all] {
        for (std::size_t i = 0; i < tasks; ++i) {
          places::async_any([&all, i] {
            linger();
            all.run(i);
          });
        }
        linger();
      });
    });
    all.check_all();
  });
}

/// In two finishes one place after the other has the tasks, or the same: what the others have asked for in the first one is
/// no request in the second.
void explore_next_finish(const set_up& chosen, std::size_t tasks, bool same) {
  std::array<std::unique_ptr<deeds>, 2> all;
  for (auto& each : all) each = std::make_unique<deeds>(tasks);
  run_places(chosen, [&] {
    for (std::size_t finish = 0; finish < all.size(); ++finish) {
      deeds& now = *all.at(finish);
      places::finish_spmd([&] {
        if (here() != (same ? 0 : finish)) return;
        for (std::size_t i = 0; i < tasks; ++i) places::async_any([&now, i] { now.run(i); });
        linger();
      });
      now.check_all();
    }
  });
}

/// Sends a body on around the places: at no time is there anything but one message, or one task.
struct round_trip {
  deeds* all;
  std::size_t number;
  std::size_t tasks;
  void operator()() const {
    const std::size_t next = number + 1;
    if (next < tasks) places::async_at((places::here() + 1) % places::count(), round_trip{all, next, tasks});
    all->run(number);
  }
};

void explore_bodies(const set_up& chosen, std::size_t tasks) {
  deeds all(tasks);
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      if (here() == 0) round_trip{&all, 0, tasks}();
    });
    all.check_all();
  });
}

/// A place that has begun the next finish sends bodies to one that has not: there they wait.
void explore_early_bodies(const set_up& chosen) {
  constexpr std::size_t finishes = 2;
  const std::size_t n = chosen.size();
  std::vector<payload> begun(n);
  for (payload& each : begun) each.store(0);
  std::vector<std::unique_ptr<deeds>> all;
  for (std::size_t i = 0; i < finishes; ++i) all.push_back(std::make_unique<deeds>(n));
  run_places(chosen, [&] {
    for (std::size_t finish = 0; finish < finishes; ++finish) {
      begun[here()].store(static_cast<int>(finish));
      deeds& now = *all[finish];
      places::finish_spmd([&] {
        places::async_at((places::here() + 1) % places::count(), [&begun, &now, finish] {
          check(begun[here()].load() == static_cast<int>(finish), "a body ran in another finish");
          now.run(here());
        });
      });
      now.check_all();
    }
  });
}

/// A value whose reader has to know of its writer.
struct value {
  explicit value(int v) : of(v) {}
  payload of;
};

/// A task of place 0 that waits for what two other places, or one, have to say.
void explore_futures(const set_up& chosen) {
  deeds all(1);
  run_places(chosen, [&] {
    std::array<promise<value>, 2> makers;
    places::finish_spmd([&] {
      if (here() != 0) return;
      const auto first = makers[0].get_future();
      const auto second = makers[1].get_future();
      places::async_await(
          [&all, first, second] {
            check(first.get().of.load() + second.get().of.load() == 3, "a value got lost");
            all.run(0);
          },
          first, second);
      for (int i = 0; i < 2; ++i) {
        places::async_at((i + 1) % places::count(), [to = &makers.at(static_cast<std::size_t>(i)), i] {
          places::async_at(0, [to, i] { to->put(i + 1); });
        });
      }
    });
    all.check_all();
  });
}

/// A task of a finish waits for what was submitted, and what comes after that and a promise. Nobody may be left but who waits in
/// the finish.
void explore_submitted(const set_up& chosen) {
  deeds all(2);
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      promise<value> kept;
      places::finish([&] {
        const auto submitted = submit([] { return value(1); });
        const auto next = submitted.then([](const value& one) { return value(one.of.load() + 1); });
        const auto both = when_all(next, kept.get_future()).then([](const auto& two) {
          return value(std::get<0>(two).get().of.load() + std::get<1>(two).get().of.load());
        });
        places::async_await(
            [&all, both] {
              check(both.get().of.load() == 5, "a value got lost");
              all.run(0);
            },
            both);
        places::async([&all, &kept] {
          kept.put(3);
          all.run(1);
        });
      });
    });
    all.check_all();
  });
}

/// Place 0 has one place copy to another. Whoever looks at the network makes the future ready.
void explore_copy(const set_up& chosen) {
  deeds all(chosen.size());
  std::array<int, 2> from{1, 2};
  std::array<int, 2> to{};
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      const int me = places::here();
      const auto number = here();
      if (number != 0) return all.run(number);
      const int n = places::count();
      const auto done = places::async_copy(places::global_ptr<int>{(me + 2) % n, to.data()},
                                           places::global_ptr<const int>{(me + 1) % n, from.data()}, 2);
      places::async_await(
          [&all, &to] {
            check(to[0] == 1 && to[1] == 2, "what was copied is not there");
            all.run(0);
          },
          done);
    });
    all.check_all();
  });
}

/// Two places fail: all say that the lower one has.
void explore_errors(const set_up& chosen) {
  run_places(chosen, [&] {
    int failed = -1;
    try {
      places::finish_spmd([&] {
        if (here() == 0) return;
        places::async_at(places::here(), [] { throw std::runtime_error("as it should"); });
      });
    } catch (const places::place_failed& e) {
      failed = e.place();
    }
    check(failed == 1, "the error of place 1 got lost");
  });
}

void explore_reduce(const set_up& chosen) {
  const int n = static_cast<int>(chosen.size());
  std::vector<payload> written(chosen.size());
  run_places(chosen, [&] {
    written[here()].store(1);
    check(places::all_reduce(places::here(), [](int a, int b) { return a + b; }) == n * (n - 1) / 2, "a wrong sum");
    for (const payload& each : written) check(each.load() == 1, "what was done before the reduction got lost");
    check(places::all_reduce(places::here(), [](int a, int b) { return a > b ? a : b; }) == n - 1, "a wrong maximum");
  });
}

/// The main of place 1 works, and its other worker sleeps or naps: a message must find it.
void explore_message_while_busy(const set_up& chosen) {
  signal come;
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      if (here() == 0) places::async_at(1, [&come] { come.set(); });
      if (here() == 1) come.wait();
    });
  });
}

/// A task of place 1 works that was perhaps taken by whoever napped: a message must find the other worker.
void explore_message_after_nap(const set_up& chosen) {
  signal come;
  signal begun;
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      if (here() == 0) {
        places::async_at(1, [&come, &begun] {
          begun.set();
          come.wait();
        });
        places::async_at(1, [&come, &begun] {
          begun.wait();
          come.set();
        });
      }
    });
  });
}

/// Two tasks of place 0 that have to meet there, with others that may go elsewhere.
void explore_meeting(const set_up& chosen) {
  std::array<signal, 2> begun;
  deeds all(1);
  run_places(chosen, [&] {
    places::finish_spmd([&] {
      if (here() != 1) return;
      for (std::size_t i = 0; i < 2; ++i) {
        places::async_any([&begun, i] {
          begun.at(i).set();
          begun.at(1 - i).wait();
        });
      }
      places::async_at(0, [&all] { all.run(0); });
    });
    all.check_all();
  });
}

/// Everything at one place, which has no network to look at.
void explore_alone(int workers) {
  deeds all(7);
  detail::places::memory_hub hub(1);
  detail::places::run_place(*hub.connect(0), tiny(workers, "success_only"), [&] {
    places::finish_spmd([&] { places::async_any(tree_task{&all, 0, 7}); });
    all.check_all();
    return 0;
  });
}

void explore_hub(const set_up& chosen, std::size_t tasks) {
  deeds all(tasks);
  run_places_of_hub(chosen, [&] {
    places::finish_spmd([&] {
      if (here() == 0) places::async_any(tree_task{&all, 0, tasks});
    });
    all.check_all();
  });
}

}  // namespace

void add_places(scenario_list& to) {
  for (const std::string policy : {"success_only", "acyclic", "baseline", "lifeline"}) {
    places::options chosen = tiny(1, policy == "acyclic" ? "success_only" : policy);
    chosen.cyclic_steals = policy != "acyclic";
    to.push_back({policy + "_theft", "a task that must be stolen", [=] { explore_theft(alike(2, chosen), 2); }});
    to.push_back(
        {policy + "_thieves", "two thieves, and tasks that make tasks", [=] { explore_tree(alike(3, chosen), 5); }});
    to.push_back({policy + "_cyclic", "two places that ask each other", [=] { explore_cyclic(alike(2, chosen)); }});
    to.push_back({policy + "_next_finish", "the next finish, and old requests",
                  [=] { explore_next_finish(alike(2, chosen), 2, false); }});
    to.push_back({policy + "_same_victim", "the next finish with the same victim, and old requests",
                  [=] { explore_next_finish(alike(2, chosen), 3, true); }});
    places::options dedicated = chosen;
    dedicated.communication = "dedicated";
    to.push_back({policy + "_dedicated", "a thread of its own looks at the network",
                  [=] { explore_theft(alike(2, dedicated), 2); }});
  }
  for (const std::string policy : {"success_only", "baseline", "lifeline"}) {
    to.push_back({policy + "_hub", "places of one process, connected by its memory",
                  [=] { explore_hub(alike(3, tiny(1, policy)), 5); }});
  }
  for (const std::string communication : {"shared", "dedicated"}) {
    const places::options one = tiny(1, "success_only", communication);
    const places::options two = tiny(2, "success_only", communication);
    places::options many = two;
    many.tasks_per_shipment = 3;
    to.push_back({communication + "_shipments", "two workers, and several tasks in a message",
                  [=] { explore_tree(alike(2, many), 7); }});
    to.push_back({communication + "_bodies", "one message on its way around three places",
                  [=] { explore_bodies(alike(3, one), 4); }});
    to.push_back({communication + "_early_bodies", "messages of a finish that has not begun there",
                  [=] { explore_early_bodies(alike(3, one)); }});
    to.push_back(
        {communication + "_futures", "futures that other places make ready", [=] { explore_futures(alike(3, one)); }});
    to.push_back({communication + "_copy", "a copy from one place to another, asked for by a third",
                  [=] { explore_copy(alike(3, one)); }});
    to.push_back({communication + "_errors", "two places that fail", [=] { explore_errors(alike(3, one)); }});
    to.push_back({communication + "_reduce", "two reductions in a row", [=] { explore_reduce(alike(3, one)); }});
    to.push_back({communication + "_message_while_busy", "a message for a worker that sleeps or naps",
                  [=] { explore_message_while_busy({one, two}); }});
    to.push_back({communication + "_message_after_nap", "a message when whoever napped has a task",
                  [=] { explore_message_after_nap({one, two}); }});
    to.push_back({communication + "_stubborn", "a task that cannot be written when it is stolen",
                  [=] { explore_stubborn({two, one}); }});
    to.push_back(
        {communication + "_meeting", "tasks that have to be run side by side", [=] { explore_meeting({one, two}); }});
  }
  to.push_back({"submitted_in_finish", "a finish that waits for what was submitted, one worker",
                [] { explore_submitted(alike(1, tiny(1, "success_only"))); }});
  to.push_back({"submitted_in_finish_two", "the same, two workers",
                [] { explore_submitted(alike(1, tiny(2, "success_only"))); }});
  to.push_back({"alone", "one place with two workers", [] { explore_alone(2); }});
}

}  // namespace filch::explore
