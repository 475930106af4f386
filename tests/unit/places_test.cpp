// What filch/places.hpp promises, for places that are connected by the memory of one process.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/detail/run_place.hpp>
#include <filch/filch.hpp>
#include <filch/places.hpp>
#include <filch/places_cereal.hpp>

#include "places/memory_network.hpp"
#include "places/place.hpp"
#include "places/protocol_table.hpp"

namespace filch {
namespace {

struct set_up {
  int places = 2;
  int workers = 2;
  std::string policy = "success_only";
  std::string communication = "shared";
  std::string scheduler = "standard";
  std::size_t stack_bytes = filch::options{}.stack_bytes;
};

void PrintTo(const set_up& s, std::ostream* out) {
  *out << s.places << " places, " << s.workers << " workers, " << s.policy << ", " << s.communication << ", "
       << s.scheduler;
}

// Runs main at every place, each in a thread.
void run_places(const set_up& how, const std::function<void()>& main) {
  detail::places::memory_hub hub(how.places);
  std::vector<std::thread> places;
  for (int i = 0; i < how.places; ++i) {
    places.emplace_back([&, i] {
      const auto net = hub.connect(i);
      const places::options chosen{
          .scheduler = {.workers = how.workers, .policy = how.scheduler, .stack_bytes = how.stack_bytes},
          .policy = how.policy,
          .communication = how.communication};
      detail::places::run_place(*net, chosen, [&] {
        main();
        return 0;
      });
    });
  }
  for (std::thread& each : places) each.join();
}

class everywhere : public testing::TestWithParam<set_up> {};

// A task that makes two smaller ones, and counts itself where it runs.
struct tree_task {
  std::vector<std::atomic<long>>* ran_at;
  int depth;
  void operator()() const {
    (*ran_at)[static_cast<std::size_t>(places::here())].fetch_add(1);
    if (depth == 0) return;
    for (int i = 0; i < 2; ++i) places::async_any(tree_task{ran_at, depth - 1});
  }
};

TEST_P(everywhere, every_task_runs_once) {
  constexpr int depth = 13;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::atomic<long>> ran_at(static_cast<std::size_t>(GetParam().places));
    std::atomic<int> finishes{0};
    run_places(GetParam(), [&] {
      for (int finish = 0; finish < 3; ++finish) {
        places::finish_spmd([&] {
          if (places::here() == finish % places::count()) places::async_any(tree_task{&ran_at, depth});
        });
        const long all =
            std::accumulate(ran_at.begin(), ran_at.end(), 0L, [](long sum, const auto& n) { return sum + n; });
        // Another place may have begun the next finish, and added to it.
        EXPECT_GE(all, (finish + 1) * ((2L << depth) - 1));
        ++finishes;
        EXPECT_EQ(places::all_reduce(1, std::plus<>()), places::count());
      }
    });
    EXPECT_EQ(finishes, 3 * GetParam().places);
    EXPECT_EQ(std::accumulate(ran_at.begin(), ran_at.end(), 0L, [](long sum, const auto& n) { return sum + n; }),
              3 * ((2L << depth) - 1));
  }
}

TEST_P(everywhere, bodies_run_at_their_place) {
  std::atomic<int> wrong{0};
  std::atomic<int> ran{0};
  run_places(GetParam(), [&] {
    places::finish_spmd([&] {
      for (int to = 0; to < places::count(); ++to) {
        places::async_at(to, [to, from = places::here(), &wrong, &ran] {
          if (places::here() != to) ++wrong;
          ++ran;
          places::async_at(from, [from, &wrong, &ran] {
            if (places::here() != from) ++wrong;
            ++ran;
          });
        });
      }
    });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(ran, 2 * GetParam().places * GetParam().places);
}

// What a finish covers is not left to others: it is over when finish() returns, at any depth, wherever it is.
TEST_P(everywhere, finishes_wait_for_their_tasks) {
  std::atomic<int> missing{0};
  std::atomic<int> ran{0};
  run_places(GetParam(), [&] {
    places::finish_spmd([&] {
      for (int i = 0; i < 20; ++i) {
        places::async_any([&missing, &ran] {
          std::atomic<int> here{0};
          const std::array numbers{1, 2, 3};
          places::finish([&] {
            for (int j = 0; j < 4; ++j) {
              places::async([&] {
                fork_join([&] { places::async([&] { ++here; }); },
                          [&] { parallel_for(0, 8, [&](int) { places::async([&] { ++here; }); }); });
                ++here;
              });
            }
            places::forasync(0, 10, [&](int) { places::async([&] { ++here; }); });
            // As a loop's, bounds are of two types, or iterators.
            places::forasync(0, numbers.size(), [&](std::size_t) { ++here; });
            places::forasync(numbers.begin(), numbers.end(), [&](int n) { here += n; });
          });
          if (here != 4 * 10 + 10 + 3 + 6) ++missing;
          ++ran;
        });
      }
    });
  });
  EXPECT_EQ(missing, 0);
  EXPECT_EQ(ran, 20 * GetParam().places);
}

// Another worker adds to a group, so that none of its own tasks has what is added on its stack.
void add_elsewhere(const std::function<void()>& added) {
  task_group group;
  std::atomic<bool> has_begun{false};
  group.run([&] {
    has_begun = true;
    group.run([&] { added(); });
  });
  const auto start = std::chrono::steady_clock::now();
  while (places::workers() > 1 && !has_begun && std::chrono::steady_clock::now() - start < std::chrono::seconds(2)) {
    fork_join([] {}, [] {});  // in which requests are answered
  }
  group.wait();
}

TEST_P(everywhere, finishes_wait_for_what_groups_make) {
  std::atomic<int> missing{0};
  const auto check = [&] {
    std::atomic<int> ended{0};
    const auto make = [&ended] {
      places::async([&ended] {
        std::this_thread::sleep_for(std::chrono::microseconds(200));  // a finish that does not wait is over by then
        ++ended;
      });
    };
    places::finish([&] { add_elsewhere(make); });
    if (ended != 1) ++missing;
    ended = 0;
    int items = 0;
    places::finish([&] {
      pipeline(
          4, [&]() -> std::optional<int> { return items == 20 ? std::nullopt : std::optional(items++); },
          serial_in_order([&](int) { make(); }));
    });
    if (ended != 20) ++missing;
    ended = 0;
    places::finish([&] {
      task_graph graph;
      const auto first = graph.add([] {});
      for (int i = 0; i < 8; ++i) graph.add([&] { make(); }, {first});
      graph.run();
    });
    if (ended != 8) ++missing;
  };
  run_places(GetParam(), [&] {
    check();  // where there is no finish_spmd
    places::finish_spmd([&] { check(); });
  });
  EXPECT_EQ(missing, 0);
}

// Else who waits for what a task was to do would wait for ever.
TEST_P(everywhere, finishes_whose_body_throws_run_all_their_tasks) {
  for (const int workers : {1, 2}) {
    set_up how = GetParam();
    how.workers = workers;
    run_places(how, [] {
      for (int round = 0; round != 20; ++round) {
        promise<int> given;
        std::atomic<int> got{0};
        phaser steps(2);
        std::atomic<int> phases{0};
        EXPECT_THROW(places::finish([&] {
                       places::async_await([&got, f = given.get_future()] { got = f.get(); }, given.get_future());
                       for (int i = 0; i != 2; ++i) {
                         places::async_phased(steps, [&](std::size_t phase) {
                           ++phases;
                           return phase < 3;
                         });
                       }
                       places::async([&] { given.put(7); });
                       throw std::runtime_error("on purpose");
                     }),
                     std::runtime_error);
        EXPECT_EQ(got, 7);
        EXPECT_EQ(phases, 8);
      }
    });
  }
}

TEST_P(everywhere, futures_release_tasks) {
  std::vector<int> seen(static_cast<std::size_t>(GetParam().places), 0);
  run_places(GetParam(), [&] {
    const int me = places::here();
    promise<int> from_left;
    promise<int>* const address = &from_left;
    // Every place's promise has an address that the others have to know.
    std::array<std::uintptr_t, 16> addresses{};
    addresses[static_cast<std::size_t>(me)] = reinterpret_cast<std::uintptr_t>(address);
    addresses = places::all_reduce(addresses, [](auto a, const auto& b) {
      for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
      return a;
    });
    places::finish_spmd([&] {
      const auto later = from_left.get_future();
      promise<int> local;
      const auto of_local = local.get_future();
      places::async_await(
          [&seen, me, later, of_local] { seen[static_cast<std::size_t>(me)] = later.get() + of_local.get(); }, later,
          of_local);
      const int right = (me + 1) % places::count();
      places::async_at(right, [to = addresses[static_cast<std::size_t>(right)], me] {
        reinterpret_cast<promise<int>*>(to)->put(me + 1);
      });
      local.put(100);
    });
  });
  for (int i = 0; i < GetParam().places; ++i) {
    EXPECT_EQ(seen[static_cast<std::size_t>(i)], 100 + (i + GetParam().places - 1) % GetParam().places + 1);
  }
}

TEST_P(everywhere, copies_between_all_pairs) {
  constexpr std::size_t n = 5000;
  const auto p = static_cast<std::size_t>(GetParam().places);
  // [at][from][to]: what the place has for, and of, each pair.
  std::vector<std::vector<std::uint32_t>> sources(p);
  std::vector<std::vector<std::vector<std::uint32_t>>> copies(p);
  for (std::size_t i = 0; i < p; ++i) {
    sources[i].resize(n);
    std::iota(sources[i].begin(), sources[i].end(), static_cast<std::uint32_t>(i * 1'000'000));
    copies[i].assign(p, std::vector<std::uint32_t>(n));
  }
  std::atomic<std::size_t> ready{0};
  run_places(GetParam(), [&] {
    places::finish_spmd([&] {
      // Of three places: one copies from another one to a third.
      const int me = places::here();
      const int count = places::count();
      for (int from = 0; from < count; ++from) {
        const int to = (from + me) % count;
        const auto done = places::async_copy(
            places::global_ptr<std::uint32_t>{
                to, copies[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)].data()},
            places::global_ptr<std::uint32_t>{from, sources[static_cast<std::size_t>(from)].data()}, n);
        places::async_await([&ready] { ++ready; }, done);
      }
    });
  });
  EXPECT_EQ(ready, p * p);
  for (std::size_t to = 0; to < p; ++to) {
    for (std::size_t from = 0; from < p; ++from) EXPECT_EQ(copies[to][from], sources[from]);
  }
}

TEST_P(everywhere, the_lowest_failing_place_is_named) {
  std::atomic<int> right{0};
  run_places(GetParam(), [&] {
    const int last = places::count() - 1;
    for (int round = 0; round < 2; ++round) {
      try {
        places::finish_spmd([&] {
          const int me = places::here();
          if (me == last) throw std::runtime_error("the body");
          if (me == last - 1) {
            places::async_at(me, [] { places::async([] { throw std::runtime_error("a task"); }); });
          }
        });
      } catch (const places::place_failed& e) {
        const std::string what = e.what();
        if (last == 0 ? e.place() == 0 && what.find("the body") != std::string::npos
                      : e.place() == last - 1 && what.find("a task") != std::string::npos) {
          ++right;
        }
      }
    }
    places::finish_spmd([] {});  // forgotten
  });
  EXPECT_EQ(right, 2 * GetParam().places);
}

TEST_P(everywhere, a_combine_that_throws_fails_at_all_places) {
  std::atomic<int> failed{0};
  run_places(GetParam(), [&] {
    for (int round = 0; round < 2; ++round) {
      try {
        static_cast<void>(places::all_reduce(1, [](int, int) -> int { throw std::runtime_error("no sum"); }));
      } catch (const places::place_failed& e) {
        if (std::string(e.what()).find(": no sum") != std::string::npos) ++failed;
      }
      EXPECT_EQ(places::all_reduce(1, std::plus<>()), places::count());  // forgotten
    }
  });
  EXPECT_EQ(failed, GetParam().places == 1 ? 0 : 2 * GetParam().places);
}

// Whoever looks at the network combines them.
TEST_P(everywhere, values_need_no_default) {
  struct number {
    int is;
    explicit number(int i) : is(i) {}
  };
  run_places(GetParam(), [&] {
    const auto add = [](number a, number b) { return number(a.is + b.is); };
    EXPECT_EQ(places::all_reduce(number(2), add).is, 2 * places::count());
  });
}

TEST_P(everywhere, values_may_be_large) {
  using values = std::array<double, 60'000>;
  run_places(GetParam(), [&] {
    const auto mine = std::make_unique<values>();
    mine->fill(1);
    const auto add = [n = static_cast<std::size_t>(places::count())](const values& a, const values& b) {
      std::array<values, 4> sums;  // as much as nobody else has there
      for (std::size_t i = 0; i < a.size(); ++i) {
        for (values& each : sums) each[i] = a[i] + b[i];
      }
      return sums[n % sums.size()];
    };
    const auto all = std::make_unique<values>(places::all_reduce(*mine, add));
    EXPECT_EQ(all->front(), places::count());
    EXPECT_EQ(all->back(), places::count());
  });
}

TEST_P(everywhere, reductions_that_do_not_fit_together_fail_at_all_places) {
  std::atomic<int> failed{0};
  run_places(GetParam(), [&] {
    if (places::count() == 1) return;
    try {
      if (places::here() == 0) {
        static_cast<void>(places::all_reduce(1.0, std::plus<>()));
      } else {
        static_cast<void>(
            places::all_reduce(std::array<long, 9>{}, [](const auto& a, const auto& /*b*/) { return a; }));
      }
    } catch (const places::place_failed& e) {
      const std::string what = e.what();
      if (what.find(" 8 bytes") != std::string::npos && what.find(" 72 bytes") != std::string::npos) ++failed;
    }
  });
  EXPECT_EQ(failed, GetParam().places == 1 ? 0 : GetParam().places);
}

TEST_P(everywhere, collective_operations_are_refused_in_a_loop) {
  run_places(GetParam(), [&] {
    std::atomic<int> refused{0};
    bool tries = false;
    const auto body = [&](int /*i*/) {
      if (!tries) return;
      try {
        places::finish_spmd([] {});
      } catch (const std::logic_error&) {
        ++refused;
      }
    };
    // Also where the loop has shown to be so short that it runs in one piece.
    for (int i = 0; i < 1000; ++i) parallel_for(0, 64, body);
    tries = true;
    parallel_for(0, 64, body);
    EXPECT_EQ(refused, 64);
  });
}

TEST_P(everywhere, phases_are_in_step) {
  std::atomic<int> wrong{0};
  run_places(GetParam(), [&] {
    places::finish_spmd([&] {
      constexpr std::size_t tasks = 6;
      constexpr std::size_t phases = 20;
      auto ended = std::make_shared<std::array<std::atomic<std::size_t>, phases>>();
      auto steps = std::make_shared<phaser>(tasks);
      // First: who joins later begins later.
      std::size_t behind = 0;
      places::async_phased(
          *steps,
          [=, &wrong](std::size_t phase) mutable {
            if (phase != behind++) ++wrong;
            return phase + 1 < phases;
          },
          phaser_mode::wait_only);
      for (std::size_t t = 0; t < tasks; ++t) {
        places::async_phased(*steps, [=, &wrong](std::size_t phase) {
          if (phase != 0 && (*ended)[phase - 1] != tasks) ++wrong;
          ++(*ended)[phase];
          static_cast<void>(steps);
          return phase + 1 < phases;
        });
      }
    });
  });
  EXPECT_EQ(wrong, 0);
}

// Each is released by the one before: the C++ stack must not grow with their number.
TEST(places_chains, of_released_tasks_may_be_long) {
  for (const char* const scheduler : {"serial", "standard"}) {
    constexpr std::size_t links = 100'000;
    std::atomic<std::size_t> ran{0};
    std::atomic<std::size_t> waited{0};
    run_places({.places = 1, .scheduler = scheduler}, [&] {
      places::finish_spmd([&] {
        phaser steps;
        places::async_phased(steps, [&](std::size_t phase) { return ++ran, phase + 1 < links; });
      });
      places::finish_spmd([&] {
        std::vector<promise<>> made(links);
        places::finish([&] {
          for (std::size_t i = 0; i + 1 < links; ++i) {
            places::async_await([&made, &waited, i] { ++waited, made[i + 1].put(); }, made[i].get_future());
          }
          made[0].put();
          // Who waits inside of a released task finds what others have released.
          places::async_await(
              [&] {
                promise<> inner;
                places::finish([&] {
                  places::async_await([&waited] { ++waited; }, inner.get_future());
                  inner.put();
                });
              },
              made[links - 1].get_future());
        });
      });
    });
    EXPECT_EQ(ran, links) << scheduler;
    EXPECT_EQ(waited, links) << scheduler;
  }
}

// What is released runs on a worker, with nothing of the place's held, whoever releases it.
TEST(places_copies, release_tasks_that_use_the_place) {
  for (const char* const scheduler : {"serial", "standard"}) {
    for (const char* const communication : {"shared", "dedicated"}) {
      std::array<int, 2> from{7, 8};
      std::atomic<int> ran{0};
      std::atomic<int> wrong{0};
      run_places({.workers = 1, .communication = communication, .scheduler = scheduler}, [&] {
        const int place = places::here();
        const auto fetch = [&] {
          const auto own = std::make_shared<int>(0);
          return std::pair(
              own, places::async_copy(places::make_global(own.get()),
                                      places::global_ptr<int>{1 - place, &from[static_cast<std::size_t>(place)]}, 1));
        };
        places::finish_spmd([&] {
          const auto first = fetch();
          places::async_await(
              [&, value = first.first, place] {
                if (places::here() != place || *value != 7 + place) ++wrong;
                static_cast<void>(places::counted());
                const auto second = fetch();
                // Waits for a message.
                places::finish([&] {
                  places::async_await([&, again = second.first] { ran += *again == 7 + place ? 1 : 0; }, second.second);
                });
              },
              first.second);
          // Not done when the copy is, mostly: somebody else looks then.
          const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
          while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
        });
      });
      EXPECT_EQ(ran, 2) << scheduler << ' ' << communication;
      EXPECT_EQ(wrong, 0) << scheduler << ' ' << communication;
    }
  }
}

TEST(places_promises, that_a_thread_keeps_release_tasks_of_the_place) {
  for (const char* const scheduler : {"serial", "standard"}) {
    int at = -1;
    run_places({.places = 1, .workers = 1, .scheduler = scheduler}, [&] {
      promise<int> made;
      std::thread keeper;
      places::finish_spmd([&] {
        places::async_await([&] { at = places::here(); }, made.get_future());
        keeper = std::thread([&] { made.put(1); });
        keeper.join();
      });
    });
    EXPECT_EQ(at, 0) << scheduler;
  }
}

TEST(places_finish, waits_however_small_the_task_stacks_are) {
  std::atomic<int> wrong{0};
  const std::function<void(int)> nest = [&](int depth) {
    std::atomic<bool> ran{false};
    places::finish([&] {
      if (depth > 1) nest(depth - 1);
      places::async([&] {
        std::this_thread::yield();
        ran = true;
      });
    });
    if (!ran) ++wrong;
  };
  run_places({.places = 1, .stack_bytes = 4096}, [&] {
    nest(300);
    places::finish_spmd([&] { nest(300); });
  });
  EXPECT_EQ(wrong, 0);
}

TEST(places_end, leaves_the_place_to_what_was_submitted) {
  for (const int places : {1, 2}) {
    std::atomic<int> workers{0};
    run_places({.places = places}, [&] {
      std::atomic<bool> begun{false};
      this_worker().scheduler->submit([&workers, &begun] {
        begun = true;  // main ends
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
        static_cast<void>(places::counted());
        workers += places::workers();
      });
      while (!begun) std::this_thread::yield();
    });
    EXPECT_EQ(workers, 2 * places);
  }
}

TEST(places_misuse, is_told) {
  EXPECT_THROW(places::async_any([] {}), std::logic_error);
  EXPECT_THROW(places::finish([] {}), std::logic_error);
  EXPECT_THROW(static_cast<void>(places::here()), std::logic_error);
  EXPECT_THROW(places::run_alone({.policy = "greedy"}, [] { return 0; }), std::invalid_argument);
  EXPECT_THROW(places::run_alone({.communication = "loud"}, [] { return 0; }), std::invalid_argument);
  EXPECT_THROW(places::run_alone({.tasks_per_shipment = 6}, [] { return 0; }), std::invalid_argument);
  run_places({.places = 1}, [] {
    EXPECT_THROW(places::async([] {}), std::logic_error);
    EXPECT_THROW(places::async_any([] {}), std::logic_error);
    bool rejected = false;
    places::finish_spmd([&] {
      EXPECT_THROW(places::async_at(1, [] {}), std::out_of_range);
      EXPECT_THROW(places::async_at(-1, [] {}), std::out_of_range);
      EXPECT_THROW(places::async_await([] {}, future<int>()), std::logic_error);
      try {
        places::finish_spmd([] {});
      } catch (const std::logic_error&) {
        rejected = true;
      }
    });
    EXPECT_TRUE(rejected);
    task_group left;
    left.run([] {});
    try {
      places::finish_spmd([] {});
      ADD_FAILURE() << "main has a task";
    } catch (const std::logic_error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("has not waited for"));
    }
    left.wait();
    places::finish_spmd([] {});
  });
}

// A closure that cereal writes, which knows how many of its kind there are.
class letter {
 public:
  letter() { ++alive; }
  letter(std::vector<std::atomic<long>>& sums, std::vector<int> values, std::string text)
      : sums_(reinterpret_cast<std::uintptr_t>(&sums)), values_(std::move(values)), text_(std::move(text)) {
    ++alive;
  }
  letter(const letter& other) : sums_(other.sums_), values_(other.values_), text_(other.text_) { ++alive; }
  letter& operator=(const letter&) = delete;
  ~letter() { --alive; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sums_, values_, text_);
  }
  void operator()() const {
    auto& sums = *reinterpret_cast<std::vector<std::atomic<long>>*>(sums_);
    sums[static_cast<std::size_t>(places::here())] +=
        std::accumulate(values_.begin(), values_.end(), static_cast<long>(text_.size()));
  }

  static inline std::atomic<int> alive{0};

 private:
  std::uintptr_t sums_ = 0;
  std::vector<int> values_;
  std::string text_;
};

TEST_P(everywhere, closures_with_containers_travel_and_are_destroyed) {
  constexpr int tasks = 300;
  std::vector<std::atomic<long>> sums(static_cast<std::size_t>(GetParam().places));
  std::vector<long> of_bodies(sums.size());
  letter::alive = 0;
  run_places(GetParam(), [&] {
    places::finish_spmd([&] {
      for (int at = 0; at < places::count(); ++at) {
        places::async_at(at, letter(sums, {1, places::here()}, std::string(static_cast<std::size_t>(at), 'x')));
      }
    });
    // By hand: what each place got from all.
    const int n = places::count();
    const int me = places::here();
    of_bodies[static_cast<std::size_t>(me)] = n + n * (n - 1) / 2 + n * me;
    EXPECT_EQ(sums[static_cast<std::size_t>(me)], of_bodies[static_cast<std::size_t>(me)]);
    static_cast<void>(places::all_reduce(0, [](int a, int b) { return a + b; }));  // all have looked
    places::finish_spmd([&] {
      if (places::here() != 0) return;
      for (int i = 0; i < tasks; ++i) places::async_any(letter(sums, {i}, "12"));
    });
    EXPECT_THROW(places::finish_spmd([&] { places::async_at(places::count(), letter(sums, {}, "")); }),
                 places::place_failed);
  });
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0L),
            std::accumulate(of_bodies.begin(), of_bodies.end(), 0L) + tasks * (tasks - 1L) / 2 + tasks * 2L);
  EXPECT_EQ(letter::alive, 0) << "closures that were never destroyed";
}

TEST_P(everywhere, copies_that_are_too_long_are_refused_by_the_caller) {
  run_places(GetParam(), [&] {
    if (places::count() == 1) return;
    places::finish_spmd([&] {
      const int other = (places::here() + 1) % places::count();
      const auto too_long = std::size_t{1} << 31U;
      for (const auto& [to, from] : {std::pair(other, places::here()), std::pair(places::here(), other)}) {
        EXPECT_THROW(static_cast<void>(places::async_copy(places::global_ptr<char>{to, nullptr},
                                                          places::global_ptr<const char>{from, nullptr}, too_long)),
                     std::length_error);
      }
    });
  });
}

// More bytes than a number has would be few, or none.
TEST_P(everywhere, copies_of_more_than_any_memory_are_refused) {
  run_places(GetParam(), [&] {
    places::finish_spmd([&] {
      int here = 0;
      for (const int other : {places::here(), (places::here() + 1) % places::count()}) {
        EXPECT_THROW(static_cast<void>(places::async_copy(places::global_ptr<int>{other, &here},
                                                          places::make_global(&here), std::size_t{1} << 62U)),
                     std::length_error);
      }
    });
  });
}

// A thief that occupies a place whose finish is over gets an answer: it cannot leave its own finish without one.
TEST(places_baseline, answers_a_late_thief_outside_of_a_finish) {
  using namespace detail::places;
  for (const char* const communication : {"shared", "dedicated"}) {
    memory_hub hub(2);
    const auto victims = hub.connect(0);
    const auto thiefs = hub.connect(1);
    const place victim(*victims, {.scheduler = {.workers = 1}, .policy = "baseline", .communication = communication});
    ASSERT_EQ(thiefs->board().try_lock(0), true);
    thiefs->board().set_thief(0);
    message answer;
    const auto start = std::chrono::steady_clock::now();
    while (!thiefs->receive(answer)) {
      ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << "no answer; " << communication;
      std::this_thread::yield();
    }
    EXPECT_EQ(answer.kind, message_kind::no_tasks);
    thiefs->board().unlock(0);
    EXPECT_EQ(thiefs->board().try_lock(0), true);
  }
}

// Of no size; its bytes are none.
const detail::places::closure_type nothing{.room = 0,
                                           .run = [](detail::places::task_record&) {},
                                           .write = [](const detail::places::task_record&, std::vector<std::byte>&) {},
                                           .read = [](detail::places::task_record&, std::span<const std::byte>) {},
                                           .drop = [](detail::places::task_record&) noexcept {}};

// As a victim of success_only, which serves its thieves later, it keeps what its own idle workers are about to find.
TEST(places_baseline, refuses_while_a_worker_is_idle) {
  using namespace detail::places;
  memory_hub hub(2);
  const auto victims = hub.connect(0);
  const auto thiefs = hub.connect(1);
  export_rings rings(1, [] {}, [] {});
  record_pools records(1);
  int idle = 1;
  steal_site site(
      *victims, rings, records,
      {.tasks_per_shipment = 2, .threshold = 0, .idle_workers = 1, .attempts = 1, .cyclic_steals = true},
      [&idle] { return idle; }, 1);
  const auto protocol = make_protocol("baseline", site);
  for (int i = 0; i < 3; ++i) {
    task_record& r = records.get(records.of_network(), 0);
    r.type.store(&nothing);
    rings.arrived(r);
  }
  const auto asked = [&] {
    thiefs->board().set_thief(0);
    protocol->step(false);
    message answer;
    EXPECT_TRUE(thiefs->receive(answer));
    return answer.kind;
  };
  EXPECT_EQ(asked(), message_kind::no_tasks);
  EXPECT_EQ(rings.tasks(), 3);
  idle = 0;
  EXPECT_EQ(asked(), message_kind::tasks);
  EXPECT_EQ(rings.tasks(), 1);
  EXPECT_EQ(asked(), message_kind::tasks);
  EXPECT_EQ(asked(), message_kind::no_tasks);
  EXPECT_EQ(site.counted.received, 4U);
  EXPECT_EQ(site.counted.received_idle, 1U);
  EXPECT_EQ(site.counted.tasks_sent, 3U);
}

// A task that is blocked keeps its worker: no other thread has what a place keeps for each.
TEST_P(everywhere, tasks_may_be_blocked) {
  std::atomic<int> ran{0};
  run_places(GetParam(), [&] {
    places::finish_spmd([&] {
      for (int i = 0; i < 20; ++i) {
        places::async_any([&ran] {
          const blocking here;
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          ++ran;
        });
      }
    });
  });
  EXPECT_EQ(ran, 20 * GetParam().places);
}

// They may run when it is over.
TEST_P(everywhere, continuations_are_in_no_finish) {
  std::atomic<int> rejected{0};
  std::atomic<int> awaited{0};
  const auto is_rejected = [](auto call) {
    try {
      call();
    } catch (const std::logic_error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("make those by async_await instead of submit or then"));
      return 1;
    }
    return 0;
  };
  run_places(GetParam(), [&] {
    promise<> first;
    future<int> done;
    places::finish_spmd([&] {
      done = first.get_future().then(
          [&] { return is_rejected([] { places::async([] {}); }) + is_rejected([] { places::async_any([] {}); }); });
      places::async_await([&] { places::async([&] { ++awaited; }); }, first.get_future());
      places::async([&] { first.put(); });
      places::async_await([&] { rejected += done.get(); }, done);
    });
  });
  EXPECT_EQ(rejected, 2 * GetParam().places);
  EXPECT_EQ(awaited, GetParam().places);
}

std::vector<set_up> all_set_ups() {
  std::vector<set_up> all;
  for (const int places : {1, 2, 3, 5}) {
    for (const char* const policy : {"success_only", "baseline", "lifeline"}) {
      for (const char* const communication : {"shared", "dedicated"}) {
        if (places == 1 && policy != std::string("success_only")) continue;
        all.push_back({places, places == 3 ? 1 : 2, policy, communication});
      }
    }
  }
  for (const char* const scheduler : {"lace", "chase_lev", "receiver", "sender", "lazy_depth", "adws", "serial"}) {
    all.push_back({.places = 2, .workers = 3, .scheduler = scheduler});
  }
  all.push_back({.places = 3, .workers = 1, .communication = "dedicated", .scheduler = "serial"});
  return all;
}

INSTANTIATE_TEST_SUITE_P(places, everywhere, testing::ValuesIn(all_set_ups()));

}  // namespace
}  // namespace filch
