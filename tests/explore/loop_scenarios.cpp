#include <array>

#include "loop/carve.hpp"
#include "platform/clock.hpp"
#include "scenario.hpp"
#include "sleeper.hpp"
#include "worker/interrupter.hpp"
#include "worker/piece_pool.hpp"

namespace filch::explore {
namespace {

options with_loop(options chosen, std::string loop) {
  chosen.loop = std::move(loop);
  return chosen;
}

/// A loop, and another one that uses the same records. What an iteration writes is there after the loop.
void explore_flat(const options& chosen, std::size_t iterations, std::size_t grain = 0) {
  scheduler pool(chosen);
  account ran(2 * iterations);
  std::vector<payload> results(2 * iterations);
  pool.run([&] {
    for (std::size_t round = 0; round < 2; ++round) {
      parallel_for(
          iterations * round, iterations * (round + 1),
          [&](std::size_t i) {
            ran.ran(i);
            results[i].store(1);
          },
          splitting{.grain = grain});
      for (std::size_t i = 0; i < iterations; ++i) {
        check(results[iterations * round + i].load() == 1, "a result got lost");
      }
    }
  });
  ran.check_all();
}

/// The lowest of two iterations that throw arrives, and all below it have run.
void explore_failures(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  payload result(0);
  int caught = -1;
  pool.run([&] {
    try {
      parallel_for(0, 4, [&](int i) {
        ran.ran(static_cast<std::size_t>(i));
        if (i == 1) result.store(1);
        if (i == 1 || i == 3) throw i;
      });
    } catch (int i) {
      caught = i;
    }
    check(caught == 1, "not the exception of the lowest iteration");
    check(ran.has_run(0) && result.load() == 1, "an iteration below the exception did not run");
  });
}

/// A loop that another thread stops: what runs is over when the loop is.
void explore_stop(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  std::array<payload, 4> results{};
  std::stop_source source;
  pool.run([&] {
    const loop_status status = parallel_for(
        0, 4,
        [&](int i) {
          ran.ran(static_cast<std::size_t>(i));
          results[static_cast<std::size_t>(i)].store(1);
          if (i == 2) source.request_stop();
        },
        {}, source.get_token());
    for (std::size_t i = 0; i < 4; ++i) {
      if (ran.has_run(i)) check(results[i].load() == 1, "an iteration outlives its loop");
    }
    check(status == loop_status::stopped || !ran.has_run(2), "nobody says that the loop was stopped");
  });
}

/// A reduction: what made a value is seen by who combines it, and the tree is always the same.
void explore_reduction(const options& chosen, std::size_t leaves) {
  scheduler pool(chosen);
  account ran(leaves);
  std::vector<payload> made(leaves);
  struct interval {
    std::size_t first;
    std::size_t last;
  };
  pool.run([&] {
    const interval all = parallel_reduce(
        std::size_t{0}, leaves, interval{0, 0},
        [&](std::size_t i) {
          ran.ran(i);
          made[i].store(1);
          return interval{i, i + 1};
        },
        [&](interval a, interval b) {
          check(a.last == b.first, "values that are no neighbours are combined");
          for (std::size_t i = a.first; i < b.last; ++i) check(made[i].load() == 1, "a value is combined too early");
          return interval{a.first, b.last};
        });
    check(all.first == 0 && all.last == leaves, "a value got lost");
  });
  ran.check_all();
}

/// The first iteration waits for the second: somebody has to come and take it.
void explore_wake_up(const options& chosen) {
  scheduler pool(chosen);
  platform::atomic<bool> begun{false};
  pool.run([&] {
    parallel_for(0, 2, [&](int i) {
      if (i == 1) begun.store(true, std::memory_order_release);
      while (!begun.load(std::memory_order_acquire)) {
        if (detail::self->must_attend(nullptr)) detail::attend(*detail::self);
        platform::pause();
      }
    });
  });
}

/// Whoever has the second iteration to give sleeps, since it waits for a task whose thief waits for that iteration. The
/// third worker's request has to wake it.
void explore_asleep(const options& chosen) {
  scheduler pool(chosen);
  platform::atomic<bool> begun{false};
  pool.run([&] {
    const auto* const owner = detail::self;
    parallel_for(0, 2, [&](int i) {
      if (i == 1) {
        begun.store(true, std::memory_order_release);
        return;
      }
      fork_join([] {},
                [&] {
                  if (detail::self == owner) return;
                  while (!begun.load(std::memory_order_acquire)) platform::pause();
                });
    });
  });
}

/// An owner that falls asleep in a wait and has something to give, and a worker that asks it for that, once.
void explore_request(const options& chosen) {
  scheduler pool(chosen);
  pool.run([&] {
    auto& owner = static_cast<worker&>(*detail::self);
    owner.calm();
    parallel_for(0, 2, [&](int i) {
      if (i != 0) return;
      check(!owner.pieces.something_offered(), "something is on offer that nobody has asked for");
      in_parallel({[&] {
                     while (!owner.pieces.something_offered()) {
                       sleeper(owner).sleep();
                       if (owner.must_attend(nullptr)) detail::attend(owner);
                     }
                   },
                   [&] {
                     owner.ask();
                     while (!owner.pieces.something_offered()) platform::pause();
                     owner.parker.unpark();
                   }});
    });
  });
}

/// An owner that offers pieces, shortens them and takes them back, and thieves that take the oldest.
void explore_pool(int thieves) {
  piece_pool pool;
  constexpr std::uint64_t end = 8;
  account ran(2 * end);
  std::uint64_t version = 0;
  const auto run = [&](const seen_piece& seen, std::uint64_t low) {
    for (std::uint64_t i = low; i < seen.p->high.load(); ++i) ran.ran(i);
  };
  const auto steal = [&] {
    for (int tries = 0; tries < 3; ++tries) {
      seen_piece seen = pool.oldest(0);
      if (!seen) continue;
      const auto taken = task_state{.status = task_status::taken, .thief = 1, .id = 1}.pack();
      if (!seen.p->state.compare_exchange_strong(seen.word, taken, std::memory_order_release,
                                                 std::memory_order_relaxed)) {
        continue;
      }
      run(seen, seen.start().low);
      seen.p->state.store(task_state{.status = task_status::done}.pack(), std::memory_order_release);
    }
  };
  const auto own = [&] {
    for (std::uint64_t base : {std::uint64_t{0}, end}) {
      piece* const p = pool.get();
      p->number.store(1, std::memory_order_relaxed);
      p->high.store(base + end);
      pool.offer(*p, {base, 0}, ++version);
      for (;;) {
        const seen_piece seen = piece_pool::on_offer(*p);
        if (!seen) break;
        const std::uint64_t low = seen.start().low;
        if (low + 2 < base + end) {
          // Two at a time, while there are that many.
          version += (version + 1 + task_state::unpack(seen.word).id) % 2 != 0 ? 1 : 2;
          if (!piece_pool::shorten(seen, {low + 2, 0}, version)) continue;
          ran.ran(low);
          ran.ran(low + 1);
        } else if (pool.take_back(seen)) {
          run(seen, low);
        }
      }
      while (true) {
        const auto state = task_state::unpack(p->state.load(std::memory_order_acquire));
        if (state.finished() || state.status == task_status::reclaimed) break;
        platform::pause();
      }
      pool.put(*p);
    }
  };
  std::vector<std::function<void()>> parts{own};
  for (int i = 0; i < thieves; ++i) parts.emplace_back(steal);
  in_parallel(parts);
  ran.check_all();
}

}  // namespace

void add_loops(scenario_list& to) {
  to.push_back(
      {"piece_pool", "pieces that are offered, shortened and taken back, and one thief", [] { explore_pool(1); }});
  to.push_back({"piece_pool_two_thieves", "the same with two thieves", [] { explore_pool(2); }});
  for (const std::string policy : {"lace", "lazy_breadth", "lazy_depth", "lazy_depth2", "receiver", "sender"}) {
    to.push_back({policy + "_flat", "a flat loop, twice", [=] { explore_flat(small(3, policy, "transitive"), 6); }});
    to.push_back({policy + "_reduction", "a reduction over five leaves",
                  [=] { explore_reduction(small(3, policy, "transitive"), 5); }});
    to.push_back({policy + "_failures", "a loop of which two iterations throw",
                  [=] { explore_failures(small(3, policy, "transitive")); }});
    to.push_back({policy + "_loop_wake_up", "an iteration that waits for another to be taken",
                  [=] { explore_wake_up(small(2, policy, "transitive")); }});
    to.push_back({policy + "_asleep", "a worker that sleeps and has the only work",
                  [=] { explore_asleep(small(3, policy, "transitive")); }});
  }
  to.push_back(
      {"request", "a request to a worker that falls asleep", [] { explore_request(small(1, "lace", "transitive")); }});
  to.push_back({"lace_grain", "a flat loop with a grain", [] { explore_flat(small(2, "lace", "transitive"), 8, 2); }});
  to.push_back({"loop_stop", "a loop that is stopped", [] { explore_stop(small(3, "lace", "transitive")); }});
  for (const std::string loop : {"simple", "auto", "work_first", "help_first", "static", "dynamic", "lazy_depth"}) {
    to.push_back({"loop_" + loop, "a flat loop, twice, split that way",
                  [=] { explore_flat(with_loop(small(3, "lace", "transitive"), loop), 5); }});
    to.push_back({"reduction_" + loop, "a reduction over five leaves, split that way",
                  [=] { explore_reduction(with_loop(small(3, "lace", "transitive"), loop), 5); }});
  }
  to.push_back({"loop_simple_failures", "a loop of which two iterations throw, split beforehand",
                [] { explore_failures(with_loop(small(3, "lace", "transitive"), "simple")); }});
}

}  // namespace filch::explore
