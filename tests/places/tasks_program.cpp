// All constructs of places, at the places of one job of the tests; places_test.py starts it. What is expected comes from
// arithmetic. Each way to steal and to communicate gets a run of its own; a seed of the command line varies how much there is
// to do.
//
//   tasks_program [SEED [half|all [BOARD...]]]      prints "W ways at P places" at place 0; load boards: shared and messages unless given
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cereal/types/vector.hpp>
#include <mpi.h>

#include <filch/filch.hpp>
#include <filch/places.hpp>
#include <filch/places_cereal.hpp>

namespace {

namespace places = filch::places;

void expect(bool is_true, const std::string& what) {
  if (is_true) return;
  std::fprintf(stderr, "place %d: not true: %s\n", places::here(), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

long at_all_places(long mine) {
  return places::all_reduce(mine, [](long a, long b) { return a + b; });
}

std::size_t here() { return static_cast<std::size_t>(places::here()); }
std::size_t count() { return static_cast<std::size_t>(places::count()); }
int after(int place, int distance) { return (place + distance) % places::count(); }

// ---- Tasks that go anywhere

std::atomic<long> ran{0};

struct tree_task {
  int depth;
  void operator()() const {
    ran.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; i < 2 && depth > 0; ++i) places::async_any(tree_task{depth - 1});
  }
};

/// Again and again, from another place each time; so that each finish meets what the one before has left behind.
void check_trees(int finishes, int depth) {
  for (int finish = 0; finish < finishes; ++finish) {
    ran = 0;
    places::finish_spmd([&] {
      if (places::here() == finish % places::count()) places::async_any(tree_task{depth});
    });
    expect(at_all_places(ran) == (1L << (depth + 1)) - 1, "each task of a tree has run once");
  }
}

/// All places at once, with nothing between two finishes.
void check_many_finishes(int finishes) {
  ran = 0;
  for (int finish = 0; finish < finishes; ++finish) {
    places::finish_spmd([] { places::async_any(tree_task{2}); });
  }
  expect(at_all_places(ran) == 7L * finishes * places::count(), "each task of many finishes has run once");
}

/// Carries more than a record holds.
struct heavy_task {
  std::vector<int> values;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(values);
  }
  void operator()() const {
    ran += std::accumulate(values.begin(), values.end(), 0L);
    if (values.size() < 16) return;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    places::async_any(heavy_task{{values.begin(), middle}});
    places::async_any(heavy_task{{middle, values.end()}});
  }
};

void check_heavy_closures(int values) {
  ran = 0;
  places::finish_spmd([&] {
    if (places::here() != 0) return;
    std::vector<int> all(static_cast<std::size_t>(values));
    std::iota(all.begin(), all.end(), 0);
    places::async_any(heavy_task{std::move(all)});
  });
  // Each level of halves adds up all values once.
  int levels = 1;
  for (int size = values; size >= 16; size /= 2) ++levels;
  expect(at_all_places(ran) == long{values} * (values - 1) / 2 * levels, "closures have carried their values");
}

struct nested_task {
  int depth;
  void operator()() const {
    long inner = 0;
    std::atomic<long> ended{0};
    places::finish([&] {
      for (int i = 0; i < 3; ++i) places::async([&] { ++ended; });
      places::forasync(0, 5, [&](int) { ++ended; });
      auto [a, b] = filch::fork_join([] { return 1; }, [] { return 2; });
      inner = a + b;
    });
    ran += ended + inner;
    for (int i = 0; i < 2 && depth > 0; ++i) places::async_any(nested_task{depth - 1});
  }
};

void check_nested(int depth) {
  ran = 0;
  places::finish_spmd([&] {
    if (places::here() == places::count() - 1) nested_task{depth}();
  });
  expect(at_all_places(ran) == 11 * ((1L << (depth + 1)) - 1), "a finish inside of a task waits for its tasks");
}

// ---- Bodies

std::vector<std::atomic<long>> came;      ///< by sender
std::vector<std::atomic<long>> answered;  ///< by whom

void check_bodies(int rounds) {
  came = std::vector<std::atomic<long>>(count());
  answered = std::vector<std::atomic<long>>(count());
  static_cast<void>(at_all_places(0));
  places::finish_spmd([&] {
    for (int to = 0; to < places::count() * rounds; ++to) {
      places::async_at(to % places::count(), [from = places::here()] {
        ++came[static_cast<std::size_t>(from)];
        places::async_at(from, [by = places::here()] { ++answered[static_cast<std::size_t>(by)]; });
      });
    }
  });
  for (std::size_t i = 0; i < count(); ++i) {
    expect(came[i] == rounds, "the bodies of all places have run here");
    expect(answered[i] == rounds, "all places have answered");
  }
}

// ---- Copies

std::vector<std::vector<int>> slots;  ///< for what each place has copied to here
std::vector<int> own;
std::vector<int*> sources;  ///< of all places
std::vector<int*> targets;  ///< at all places: for what this one copies there

std::vector<int> values_of(int place, std::size_t values) {
  std::vector<int> all(values);
  std::iota(all.begin(), all.end(), 1000 * place);
  return all;
}

/// Every place has another one's values copied to a third: distances 0 are its own.
void check_copies(std::size_t values) {
  own = values_of(places::here(), values);
  sources.assign(count(), nullptr);
  targets.assign(count(), nullptr);
  for (const auto& [source, target] : {std::pair{1, 2}, std::pair{0, 1}, std::pair{1, 0}, std::pair{0, 0}}) {
    slots.assign(count(), std::vector<int>(values));
    static_cast<void>(at_all_places(0));
    places::finish_spmd([&] {
      for (int to = 0; to < places::count(); ++to) {
        places::async_at(to, [from = here(), its = own.data(), slot = slots[static_cast<std::size_t>(to)].data()] {
          sources[from] = its;
          targets[from] = slot;
        });
      }
    });
    std::atomic<int> ready{0};
    places::finish_spmd([&, from_source = source, to_target = target] {
      const int from = after(places::here(), from_source);
      const int to = after(places::here(), to_target);
      const auto done =
          places::async_copy(places::global_ptr<int>{to, targets[static_cast<std::size_t>(to)]},
                             places::global_ptr<const int>{from, sources[static_cast<std::size_t>(from)]}, values);
      places::async_await([&ready] { ++ready; }, done);
    });
    expect(ready == 1, "a task has waited for the copy");
    const int by = after(places::here(), places::count() - target % places::count());  // who has copied to here
    const int from = after(by, source);
    expect(slots[static_cast<std::size_t>(by)] == values_of(from, values), "all values have been copied");
  }
}

// ---- Futures and phases

void check_futures() {
  std::vector<filch::promise<int>> makers(count());
  std::atomic<int> sum{0};
  places::finish_spmd([&] {
    for (std::size_t i = 0; i < count(); ++i) {
      // Its own, by way of another place.
      places::async_at(static_cast<int>(i), [to = &makers[i], back = places::here(), i] {
        places::async_at(back, [to, i] { to->put(static_cast<int>(i) + 1); });
      });
      places::async_await([&sum, value = makers[i].get_future()] { sum += value.get(); }, makers[i].get_future());
    }
  });
  expect(sum == places::count() * (places::count() + 1) / 2, "tasks have had the values of all futures");
}

/// Futures of each kind, by their place in a list: of what was submitted, of continuations, of several, and of promises that a task of
/// the finish keeps. Each is of the sum of those that it is made of, and one.
struct made_futures {
  std::vector<filch::future<long>> all;
  std::vector<long> values;
  std::vector<filch::promise<long>> promised;
};

made_futures some_futures(unsigned seed, unsigned count) {
  made_futures made;
  unsigned next = seed;
  const auto random = [&](unsigned below) {
    next = next * 1664525 + 1013904223;
    return (next >> 16) % below;
  };
  for (unsigned i = 0; i < count; ++i) {
    const unsigned kind = random(5);
    if (i < 2 || kind == 0) {
      made.all.push_back(filch::submit([] { return 1L; }));
      made.values.push_back(1);
    } else if (kind == 1) {
      made.all.push_back(made.promised.emplace_back().get_future());
      made.values.push_back(1);
    } else if (kind <= 3) {
      const unsigned from = random(i);
      made.all.push_back(made.all[from].then([](long value) { return value + 1; }));
      made.values.push_back(made.values[from] + 1);
    } else {
      const unsigned a = random(i);
      const unsigned b = random(i);
      made.all.push_back(when_all(made.all[a], made.all[b]).then([](const auto& both) {
        return std::get<0>(both).get() + std::get<1>(both).get() + 1;
      }));
      made.values.push_back(made.values[a] + made.values[b] + 1);
    }
  }
  return made;
}

/// Whoever waits in a finish runs what its tasks wait for: here all workers do.
void check_submitted(int seed) {
  std::atomic<long> wrong{0};
  std::atomic<int> awaits{0};
  std::atomic<int> begun{0};
  constexpr int bodies = 8;
  constexpr unsigned length = 40;
  places::finish_spmd([&] {
    for (int body = 0; body < bodies; ++body) {
      places::async_at(places::here(), [&wrong, &awaits, &begun, seed = static_cast<unsigned>(seed * bodies + body)] {
        made_futures made = some_futures(seed, length);
        // Some of them alone, so that others are known by what is made of them only.
        for (unsigned at = length - 1 - seed % 4; at < length; at -= 1 + seed % 11) {
          ++awaits;
          places::async_await(
              [&wrong, &begun, f = made.all[at], value = made.values[at]] {
                if (f.get() != value) ++wrong;
                ++begun;
              },
              made.all[at]);
        }
        made.all.clear();
        places::async([promised = std::make_shared<decltype(made.promised)>(std::move(made.promised))] {
          for (filch::promise<long>& maker : *promised) maker.put(1);
        });
      });
    }
  });
  expect(wrong == 0, "tasks have had the values of what was submitted");
  expect(begun == awaits && begun >= bodies, "each task has begun once");
}

/// As many continuations in a row, and a ladder: each rung is of the two below it, so there are more ways down than anybody can go.
void check_long_waits(std::size_t chain, std::size_t rungs) {
  std::atomic<long> sum{0};
  std::vector<long> steps{1, 1};
  while (steps.size() != rungs) steps.push_back(steps.back() + steps[steps.size() - 2]);
  places::finish_spmd([&] {
    places::async_at(places::here(), [&sum, chain, rungs] {
      const auto maker = std::make_shared<filch::promise<long>>();
      filch::future<long> last = maker->get_future();
      // First, so that who is alone looks at the ladder before the promise is kept.
      places::async_await([maker] { maker->put(1); }, filch::submit([] { return 1L; }));
      std::vector<filch::future<long>> ladder{last, last};
      while (ladder.size() != rungs) {
        ladder.push_back(when_all(ladder.back(), ladder[ladder.size() - 2]).then([](const auto& both) {
          return std::get<0>(both).get() + std::get<1>(both).get();
        }));
      }
      for (std::size_t i = 0; i != chain; ++i) {
        last = last.then([](long value) { return value + 1; });
        places::async_await([] {}, last);
      }
      places::async_await([&sum, last, rung = ladder.back()] { sum += last.get() + rung.get(); }, last, ladder.back());
    });
  });
  expect(sum == static_cast<long>(chain) + 1 + steps.back(), "long waits end, with the right values");
}

void check_phases() {
  constexpr std::size_t tasks = 4;
  constexpr std::size_t phases = 10;
  std::array<std::atomic<std::size_t>, phases> ended{};
  std::atomic<int> early{0};
  filch::phaser steps(tasks);
  places::finish_spmd([&] {
    for (std::size_t t = 0; t < tasks; ++t) {
      places::async_phased(steps, [&](std::size_t phase) {
        if (phase != 0 && ended.at(phase - 1) != tasks) ++early;
        ++ended.at(phase);
        return phase + 1 < phases;
      });
    }
  });
  expect(early == 0 && ended.back() == tasks, "phases are in step");
}

// ---- Errors

/// @return the place that the error names; -1: there was none.
int failed_place(const std::function<void()>& body) {
  try {
    places::finish_spmd(body);
  } catch (const places::place_failed& e) {
    expect(std::string(e.what()).find("on purpose") != std::string::npos, "the error says what has failed");
    return e.place();
  }
  return -1;
}

void check_errors() {
  const int first = places::count() / 2;
  expect(failed_place([&] {
           if (places::here() >= first) throw std::runtime_error("on purpose");
         }) == first,
         "all places name the lowest one that throws");
  expect(failed_place([&] {
           places::async_at(after(places::here(), 1), [first] {
             places::async([first] {
               if (places::here() >= first) throw std::runtime_error("on purpose");
             });
           });
         }) == first,
         "all places name the lowest one whose body fails");
  const long named = failed_place([] {
    if (places::here() == 0) places::async_any([] { throw std::runtime_error("on purpose"); });
  });
  expect(named >= 0 && at_all_places(named) == named * places::count(), "all places name the same one");
  expect(failed_place([] {}) == -1, "the next finish is without an error");
}

void check_all(int seed) {
  const int few = places::count() <= 4 ? 1 : 0;
  check_trees(3, 7 + 2 * few + seed % 3);
  check_bodies(1 + 2 * few);
  check_copies(10 + static_cast<std::size_t>(seed) % 100);
  check_copies(100'000);  // longer than what MPI sends at once
  check_many_finishes(10 + 10 * few);
  check_heavy_closures(512);
  check_nested(4 + 2 * few);
  check_futures();
  check_submitted(seed);
  check_long_waits(2'000, 64);
  check_phases();
  check_errors();
  check_trees(1, 6);
}

/// Half of the ways, in which each two of board, policy and communication meet. @param way its number, as main() counts
bool is_in_half(int way) {
  const int board = way / 8;
  const int policy = way / 2;
  const int communication = way;
  return (board + policy + communication) % 2 == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int seed = argc > 1 ? std::atoi(argv[1]) : 0;
  const bool only_half = argc > 2 && argv[2] == std::string("half");
  std::vector<std::string> boards(argv + std::min(argc, 3), argv + argc);
  if (boards.empty()) boards = {"shared", "messages"};
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int job = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &job);
  int way = -1;
  int ways = 0;
  for (const std::string& board : boards) {
    for (const char* const policy : {"success_only", "acyclic", "baseline", "lifeline"}) {
      for (const char* const communication : {"shared", "dedicated"}) {
        ++way;
        if (only_half && !is_in_half(way)) continue;
        const bool is_acyclic = policy == std::string("acyclic");
        setenv("FILCH_PLACES_BOARD", board.c_str(), 1);
        const places::options chosen{.scheduler = {.workers = job <= 2 ? 2 : 1},
                                     .policy = is_acyclic ? "success_only" : policy,
                                     .communication = communication,
                                     .tasks_per_shipment = 1 + (way + seed) % 5,
                                     .threshold = (way + seed) % 3 == 2 ? -1 : 0,
                                     .cyclic_steals = !is_acyclic};
        places::run(argc, argv, chosen, [&](int, char**) {
          expect(places::count() == job, "all places are there");
          bool refused = false;
          try {
            places::run(argc, argv, chosen, [](int, char**) {});
          } catch (const std::logic_error&) {
            refused = true;
          }
          expect(refused, "one run is not inside of another");
          check_all(seed + way);
        });
        ++ways;
      }
    }
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%d ways at %d places\n", ways, job);
  MPI_Finalize();
}
