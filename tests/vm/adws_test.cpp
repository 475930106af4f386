// Where ADWS puts tasks (Shiina and Taura 2019, section 4.2). The expectation is the paper's rule, computed here; without
// stealing it must hold exactly, whatever the timing.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm/simulation.hpp>

#include "run_on.hpp"
#include "worker/inbox.hpp"
#include "worker/piece_pool.hpp"
#include "worker/steal_range.hpp"
#include "worker/task_state.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"
#include "worker/worker_range.hpp"

namespace filch::vm {
namespace {

using testing::ElementsAre;

enum class construct : std::uint8_t { fork, hinted_fork, group, group_with_total, loop, last };

/// A task of a made-up program: its children are those of one construct.
struct task {
  construct how{};
  std::vector<double> work;  ///< of each child
  double rest = 0;           ///< of a group with total: the caller's own
  std::vector<task> children;
  std::size_t id = 0;
};

task make_task(std::mt19937_64& dice, int depth, std::size_t& ids) {
  const auto draw = [&](int below) { return std::uniform_int_distribution(0, below - 1)(dice); };
  task made;
  made.id = ids++;
  if (depth == 0 || draw(8) == 0) return made;
  made.how = static_cast<construct>(draw(static_cast<int>(construct::last)));
  const bool pair = made.how == construct::fork || made.how == construct::hinted_fork;
  const int count = pair ? 2 : 1 + draw(5);
  const bool hinted = made.how == construct::hinted_fork || made.how == construct::group_with_total;
  for (int i = 0; i < count; ++i) {
    made.work.push_back(hinted ? draw(4) : 1);
    // A loop's iterations are leaves.
    made.children.push_back(make_task(dice, made.how == construct::loop ? 0 : depth - 1, ids));
  }
  if (std::accumulate(made.work.begin(), made.work.end(), 0.0) == 0) made.work[0] = 1;
  if (made.how == construct::group_with_total && draw(3) == 0) made.rest = 1 + draw(3);
  return made;
}

/// The paper's rule, in its own terms: the line of workers, whose numbers grow to the left.
struct line_part {
  double right;
  double left;
};

class placement {
 public:
  placement(const task& root, std::size_t tasks, int workers) : owners_(tasks, -1) {
    place(root, {0, static_cast<double>(workers)}, 0);
  }
  [[nodiscard]] const std::vector<int>& owners() const { return owners_; }

 private:
  static constexpr double tie_down = 0.5 - 1e-6;

  static bool crosses(line_part r) { return r.left > r.right && std::ceil(r.left) - 1 > std::floor(r.right); }

  /// Where the part is divided; at a boundary of workers if that is closer than 1/256.
  static double divide(line_part r, double share) {
    const double middle = r.left - (r.left - r.right) * share;
    const double boundary = std::floor(middle + 0.5);
    const bool snaps = std::abs(middle - boundary) < 1.0 / 256 && r.right <= boundary && boundary <= r.left;
    return snaps ? boundary : middle;
  }

  void place(const task& t, line_part r, int by) {
    owners_[t.id] = by;
    if (t.children.empty()) return;
    if (!crosses(r)) return all_by(t, by);
    if (t.how == construct::loop) return place_loop(t, 0, t.children.size(), r, by);
    double left = std::accumulate(t.work.begin(), t.work.end(), t.rest);
    for (std::size_t i = 0; i < t.children.size(); ++i) {
      const bool fork = t.how == construct::fork || t.how == construct::hinted_fork;
      if (fork && i == 1) return place(t.children[i], r, by);  // the continuation
      const double middle = divide(r, left > 0 ? t.work[i] / left : 0);
      const int owner = std::max(by, static_cast<int>(std::min(std::floor(middle), std::ceil(r.left) - 1)));
      place(t.children[i], {middle, r.left}, owner);
      if (owner == by) {
        // The other children are put into the local queue.
        for (std::size_t k = i + 1; k < t.children.size(); ++k) all_by_with(t.children[k], by);
        return;
      }
      r.left = middle;
      left -= t.work[i];
    }
  }

  void place_loop(const task& t, std::size_t low, std::size_t high, line_part r, int by) {
    while (crosses(r) && high - low > 1) {
      const double middle = (r.right + r.left) / 2;
      const double boundary =
          std::clamp(std::floor(middle + 0.5 - 1.0 / 65536), std::floor(r.right) + 1, std::ceil(r.left) - 1);
      const double share = (r.left - boundary) / (r.left - r.right);
      const auto size = static_cast<std::size_t>(static_cast<double>(high - low) * share + tie_down);
      const int owner = static_cast<int>(boundary);
      if (size != 0) place_loop(t, low, low + size, {boundary, r.left}, owner);
      low += size;
      r.left = boundary;
    }
    for (std::size_t i = low; i < high; ++i) owners_[t.children[i].id] = by;
  }

  void all_by_with(const task& t, int by) {
    owners_[t.id] = by;
    all_by(t, by);
  }
  void all_by(const task& t, int by) {
    for (const task& child : t.children) all_by_with(child, by);
  }

  std::vector<int> owners_;
};

class runner {
 public:
  explicit runner(
      std::size_t tasks, std::function<void()> watch = [] {})
      : owners_(tasks, -1), watch_(std::move(watch)) {}

  void run(const task& t) {
    owners_[t.id] = this_worker();
    watch_();
    platform::charge(static_cast<double>(100 + t.id % 7 * 300));
    watch_();
    if (!t.children.empty()) run_construct(t);
    watch_();
  }
  [[nodiscard]] const std::vector<int>& owners() const { return owners_; }

 private:
  void run_construct(const task& t) {
    const auto& c = t.children;
    switch (t.how) {
      case construct::fork:
        fork_join([&] { run(c[0]); }, [&] { run(c[1]); });
        break;
      case construct::hinted_fork:
        fork_join(work{t.work[0], t.work[1]}, [&] { run(c[0]); }, [&] { run(c[1]); });
        break;
      case construct::group: {
        task_group g;
        for (const task& child : c) g.run([&] { run(child); });
        g.wait();
        break;
      }
      case construct::group_with_total: {
        task_group g(std::accumulate(t.work.begin(), t.work.end(), t.rest));
        for (std::size_t i = 0; i < c.size(); ++i) g.run([&, i] { run(c[i]); }, t.work[i]);
        g.wait();
        break;
      }
      case construct::loop:
      case construct::last:
        parallel_for(std::size_t{0}, c.size(), [&](std::size_t i) { run(c[i]); });
        break;
    }
  }

  std::vector<int> owners_;
  std::function<void()> watch_;
};

/// The first task, in the order of the program, that ran elsewhere than expected; and those around it.
std::string difference(const task& t, const std::vector<int>& found, const std::vector<int>& expected) {
  if (found[t.id] != expected[t.id]) {
    return "ran on " + std::to_string(found[t.id]) + " instead of " + std::to_string(expected[t.id]);
  }
  for (std::size_t i = 0; i < t.children.size(); ++i) {
    const std::string inside = difference(t.children[i], found, expected);
    if (inside.empty()) continue;
    std::string about = "construct " + std::to_string(static_cast<int>(t.how)) + " on " +
                        std::to_string(expected[t.id]) + ", child " + std::to_string(i) + " of";
    for (const double work : t.work) about += " " + std::to_string(static_cast<int>(work));
    return about + " and " + std::to_string(static_cast<int>(t.rest)) + ": " + inside;
  }
  return {};
}

/// What the paper's lemmas and theorems (section 4.2.3) say, at the moment of the call. All workers of the simulated machine
/// stand still somewhere, be it in the middle of an operation; so nothing here may load an atomic, which would let them
/// go on. Empty: they hold.
std::string broken_lemma(const detail::team& all, std::uint32_t workers) {
  std::vector<int> may_give(workers, -1);  // to that worker
  std::vector<int> search_roots(workers);  // that were given to that worker, and are not joined
  for (std::uint32_t j = 0; j < workers; ++j) {
    const detail::worker& w = all[j];
    detail::worker_range range = w.place.range;
    for (const detail::given_task* g = w.given; g != nullptr; g = g->older) {
      // What has been given is not the giver's any more.
      range.left = std::min(range.left, std::max(range.right, g->place.range.right));
      if (!detail::crosses_workers(g->place.range)) continue;
      // Lemma 3, and so Theorem 2.
      if (++search_roots[g->to.number] > 1) return "two search roots are worker " + std::to_string(g->to.number) + "'s";
    }
    if (!w.diverts || !detail::crosses_workers(range)) continue;
    for (std::uint64_t i = detail::worker_at(range.right) + 1; i <= detail::worker_at(range.left - 1); ++i) {
      // Lemmas 1 and 2, and so Theorem 1.
      if (const int other = std::exchange(may_give[i], static_cast<int>(j)); other != -1) {
        return "workers " + std::to_string(other) + " and " + std::to_string(j) + " may both give to worker " +
               std::to_string(i);
      }
    }
  }
  return {};
}

const detail::team& this_team() { return detail::worker::of_this_thread()->common.team; }

class adws : public testing::TestWithParam<int> {};

TEST_P(adws, keeps_the_lemmas_of_the_paper) {
  const int workers = GetParam();
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 dice(seed);
    std::size_t ids = 0;
    const task root = make_task(dice, 6, ids);
    std::string broken;
    std::size_t looks = 0;
    runner program(ids, [&] {
      ++looks;
      if (broken.empty()) broken = broken_lemma(this_team(), static_cast<std::uint32_t>(workers));
    });
    for (const char* const join : {"transitive", "migrated"}) {
      run_on(workers, options{.policy = "adws_nosteal", .join = join}, [&](scheduler&) {
        for (int round = 0; round < 3; ++round) program.run(root);
      });
      ASSERT_EQ(broken, "") << "seed " << seed << ", join " << join;
    }
    ASSERT_EQ(looks, 3 * 2 * 3 * ids);
  }
}

TEST(adws_lemmas, are_seen_to_be_broken) {
  run_on(4, "adws_nosteal", [&](scheduler&) {
    task_group g(4);
    g.run(
        [&] {
          const detail::team& all = this_team();
          EXPECT_EQ(broken_lemma(all, 4), "");
          for (const std::uint32_t who : {0U, 1U}) {
            all[who].diverts = true;
            all[who].place.range = {.right = who * detail::one_worker, .left = 3 * detail::one_worker};
          }
          EXPECT_EQ(broken_lemma(all, 4), "workers 0 and 1 may both give to worker 2");
          for (const std::uint32_t who : {0U, 1U}) {
            all[who].diverts = false;
            all[who].place.range = {};
          }
        },
        1);
    g.wait();
  });
}

struct interval {
  std::uint32_t right;
  std::uint32_t left;
  friend bool operator==(const interval&, const interval&) = default;
  friend std::ostream& operator<<(std::ostream& out, interval i) {
    return out << '[' << i.right << ", " << i.left << ']';
  }
};

/// From which workers that worker may take; none, if no steal range around what it ran last is active.
std::optional<interval> active_range_of(std::uint32_t worker) {
  detail::steal_range* const around = this_team()[worker].steals.get();
  const detail::steal_range* const active = around != nullptr ? around->outermost_active() : nullptr;
  if (active == nullptr) return std::nullopt;
  return interval{active->right(), active->left()};
}

// Figure 10: of 12 workers [0, j], [j, k] and [k, 11] are active, with j = 4 and k = 7 in two of them each. [0, j] has two
// parts below it, [0, i] and [i, j], of which one has ended: so theirs count no more.
TEST(adws_figures, active_steal_ranges) {
  constexpr double short_ns = 2e5;
  constexpr double long_ns = 2e7;
  std::vector<std::optional<interval>> searching(12);
  std::vector<std::optional<interval>> at_work(12);
  std::vector<std::optional<interval>> later(12);
  std::vector<std::optional<interval>> after(12);
  const auto look = [](std::vector<std::optional<interval>>& into) {
    for (std::uint32_t i = 0; i < into.size(); ++i) into[i] = active_range_of(i);
  };
  // Eight tasks for each worker.
  const auto leaves = [](double workers, double ns) {
    task_group g(workers);
    const int count = static_cast<int>(8 * workers);
    for (int i = 0; i < count; ++i) g.run([ns] { platform::charge(ns); }, workers / count);
    g.wait();
  };
  run_on(12, "adws", [&](scheduler&) {
    task_group g(12);
    g.run([&] { leaves(4.5, long_ns); }, 4.5);
    look(searching);
    g.run([&] { leaves(3, long_ns); }, 3);
    g.run(
        [&] {
          task_group inner(4.5);
          inner.run([&] { leaves(2.25, short_ns); }, 2.25);
          inner.run(
              [&] {
                task_group last(2.25);
                last.run([&] { platform::charge(long_ns); }, 1.25);
                last.run(
                    [&] {
                      platform::charge(short_ns);
                      look(at_work);  // all have begun, and none has ended
                      platform::charge(long_ns);
                      look(later);
                    },
                    1);
                last.wait();
              },
              2.25);
          inner.wait();
        },
        4.5);
    g.wait();
    platform::charge(long_ns);
    look(after);
  });
  for (const std::uint32_t w : {1U, 2U, 3U}) EXPECT_EQ(later[w], (interval{0, 4})) << "worker " << w;
  for (const std::uint32_t w : {5U, 6U}) EXPECT_EQ(later[w], (interval{4, 7})) << "worker " << w;
  for (const std::uint32_t w : {8U, 9U, 10U, 11U}) EXPECT_EQ(later[w], (interval{7, 11})) << "worker " << w;
  // Of two of them.
  EXPECT_THAT(later[4], testing::AnyOf(interval{0, 4}, interval{4, 7}));
  EXPECT_THAT(later[7], testing::AnyOf(interval{4, 7}, interval{7, 11}));
  // Before the part [i, j] has ended, it is one of its own.
  EXPECT_THAT(at_work[0], testing::AnyOf(std::nullopt, interval{0, 2}));
  EXPECT_EQ(at_work[3], (interval{2, 4}));
  // While the root is divided nobody takes anything; in the end there is nothing but the root's.
  for (const auto& none : searching) EXPECT_EQ(none, std::nullopt);
  for (std::uint32_t w = 0; w < 12; ++w) EXPECT_EQ(after[w], (interval{0, 11})) << "worker " << w;
}

TEST_P(adws, puts_tasks_where_the_paper_says) {
  const int workers = GetParam();
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 dice(seed);
    std::size_t ids = 0;
    const task root = make_task(dice, 6, ids);
    const placement expected(root, ids, workers);
    run_on(workers, "adws_nosteal", [&](scheduler&) {
      // Each construct of the root is divided anew.
      for (int round = 0; round < 3; ++round) {
        runner found(ids);
        found.run(root);
        ASSERT_EQ(difference(root, found.owners(), expected.owners()), "") << "seed " << seed;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(workers, adws, testing::Values(2, 3, 7, 8, 64));

// Figure 7: eight workers; the root's range is divided in halves, which their leftmost, so lowest, workers divide further.
TEST(adws_figures, seven) {
  std::vector<int> leaves(16, -1);
  std::vector<int> inner(16, -1);
  const auto divide = [&](const auto& self, std::size_t node) -> void {
    if (node >= 16) {
      leaves[node - 16] = this_worker();
      return;
    }
    inner[node] = this_worker();
    task_group g(2);
    g.run([&] { self(self, 2 * node); }, 1);
    g.run([&] { self(self, 2 * node + 1); }, 1);
    g.wait();
  };
  run_on(8, "adws_nosteal", [&](scheduler&) { divide(divide, 1); });
  EXPECT_THAT(leaves, ElementsAre(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0));
  EXPECT_THAT(std::vector<int>(inner.begin() + 1, inner.end()),
              ElementsAre(0, 4, 0, 6, 4, 2, 0, 7, 6, 5, 4, 3, 2, 1, 0));
}

// Its fib: the last branch is the caller's own, and code before wait() has the rest of the range.
TEST(adws_figures, what_is_not_spawned_is_the_callers) {
  std::vector<int> owners;
  run_on(3, "adws_nosteal", [&](scheduler&) {
    const auto divide = [&](const auto& self, int n) -> void {
      if (n < 2) return owners.push_back(this_worker());
      task_group g(3);
      g.run([&] { self(self, n - 1); }, 2);
      self(self, n - 2);
      g.wait();
    };
    divide(divide, 3);  // two thirds are fib(2)'s: workers 1 and 2
  });
  std::sort(owners.begin(), owners.end());
  EXPECT_THAT(owners, ElementsAre(0, 1, 1));
}

// A loop whose last quarter is three quarters of the work: eight workers, six of them there.
TEST(adws_figures, weights_of_a_loop) {
  std::vector<double> sums(65);
  for (std::size_t i = 0; i < 64; ++i) sums[i + 1] = sums[i] + (i < 48 ? 1 : 9);
  std::vector<int> owners(64, -1);
  run_on(8, "adws_nosteal", [&](scheduler&) {
    parallel_for(std::size_t{0}, std::size_t{64}, [&](std::size_t i) { owners[i] = this_worker(); }, weights(sums));
  });
  // 192 in all. Half of that, to the nearest iteration, is 93; of that, 46; of that, 23.
  std::vector<double> work(8);
  for (std::size_t i = 0; i < 64; ++i) {
    work[static_cast<std::size_t>(owners[i])] += i < 48 ? 1 : 9;
    if (i > 0) {
      EXPECT_LE(owners[i], owners[i - 1]);
    }
  }
  EXPECT_THAT(work, testing::Each(testing::AllOf(testing::Ge(18), testing::Le(27))));
  EXPECT_EQ(owners[22], 7);
  EXPECT_EQ(owners[23], 6);
  EXPECT_EQ(owners[45], 6);
  EXPECT_EQ(owners[46], 5);
  EXPECT_EQ(owners[52], 4);
  EXPECT_EQ(owners[53], 3);
}

// The same work as above, of other loops: by the hints, each of eight workers has an eighth of it, to the nearest item.
TEST(adws_figures, weights_of_reductions_and_rectangles) {
  constexpr std::size_t items = 6400;
  const auto work_of = [](std::size_t i) { return i < items / 4 * 3 ? 1.0 : 9.0; };
  std::vector<double> sums(items + 1);
  for (std::size_t i = 0; i < items; ++i) sums[i + 1] = sums[i] + work_of(i);
  const weights hints(sums);
  std::vector<double> work;
  const auto note = [&](std::size_t low, std::size_t high, double share) {
    for (std::size_t i = low; i < high; ++i) work[static_cast<std::size_t>(this_worker())] += share * work_of(i);
  };
  const auto in_an_eighth = [&](const std::string& what, const std::function<void()>& loop) {
    work.assign(8, 0);
    run_on(8, "adws_nosteal", [&](scheduler&) { loop(); });
    // A leaf of a reduction has four items. Half of a half of a half: three times to the nearest.
    EXPECT_THAT(work, testing::Each(testing::DoubleNear(sums.back() / 8, 1.75 * 4 * 9))) << what;
  };
  const auto add = std::plus<>();
  using rows = blocked_range2d<std::size_t>;
  using pages = blocked_range3d<std::size_t>;
  in_an_eighth("parallel_reduce of items", [&] {
    const auto value = [&](std::size_t i) { return note(i, i + 1, 1), 1; };
    EXPECT_EQ(parallel_reduce(std::size_t{0}, items, 0, value, add, hints), items);
  });
  in_an_eighth("parallel_reduce of a range", [&] {
    const auto value = [&](const auto& part, std::size_t n) {
      return note(part.begin(), part.end(), 1), n + part.size();
    };
    EXPECT_EQ(parallel_reduce(blocked_range(std::size_t{0}, items), std::size_t{0}, value, add, hints), items);
  });
  in_an_eighth("parallel_for over rows", [&] {
    parallel_for(rows(0, items, 0, 10), [&](const rows& r) { note(r.rows().begin(), r.rows().end(), 1); }, hints);
  });
  in_an_eighth("parallel_for over pages", [&] {
    parallel_for(
        pages(0, items, 0, 5, 0, 10),
        [&](const pages& p) { note(p.pages().begin(), p.pages().end(), static_cast<double>(p.rows().size()) / 5); },
        hints);
  });
  // Few rows: columns are cut into bands, so that each worker has a part of one.
  work.assign(8, 0);
  const std::vector<double> two_rows{5, 6, 9};
  run_on(8, "adws_nosteal", [&](scheduler&) {
    parallel_for(
        rows(0, 2, 0, 4096),
        [&](const rows& r) {
          for (std::size_t row = r.rows().begin(); row < r.rows().end(); ++row) {
            work[static_cast<std::size_t>(this_worker())] += (row == 0 ? 1 : 3) * static_cast<double>(r.cols().size());
          }
        },
        weights(two_rows));
  });
  EXPECT_THAT(work, testing::Each(testing::DoubleNear(4096 * 4 / 8, 1.75 * 3 * 32)));
}

// Rounding in the hints must not give a worker slivers of tasks: 64 equal parts of a whole that is no power of two.
TEST(adws_figures, equal_parts_have_a_worker_each) {
  std::vector<int> owners(64, -1);
  run_on(64, "adws_nosteal", [&](scheduler&) {
    task_group g(0.3 * 64);
    for (std::size_t i = 0; i < 64; ++i) g.run([&, i] { owners[i] = this_worker(); }, 0.3);
    g.wait();
  });
  for (int i = 0; i < 64; ++i) EXPECT_EQ(owners[static_cast<std::size_t>(i)], 63 - i);
}

// The second branch waits with a lock for the first one, which has been given to a worker that waits for the lock.
TEST(adws_locks, may_be_held_across_a_wait) {
  for (const int workers : {2, 3, 8}) {
    bool held = false;
    int ran = 0;
    run_on(workers, "adws", [&](scheduler&) {
      const auto need_lock = [&] {
        while (held) platform::charge(1000);
      };
      task_group g(4);
      for (int i = 0; i < 3; ++i) g.run([&] { need_lock(); }, 1);
      held = true;
      task_group inner;
      inner.run([&] { ++ran; });
      fork_join([&] { ++ran; }, [&] { ++ran; });
      parallel_for(0, 10, [&](int) { ++ran; });
      inner.wait();
      held = false;
      g.wait();
    });
    EXPECT_EQ(ran, 13) << workers;
  }
}

// The slots of given tasks are the oldest of the giver's, and hold nothing for a thief.
TEST(adws_offers, are_tasks) {
  constexpr int rounds = 20;
  std::vector<int> elsewhere(4);
  const auto note_theft = [&](int from) {
    const int by = this_worker().index;
    if (by != from && by != 0) ++elsewhere[static_cast<std::size_t>(by)];  // worker 0 has taken it back
  };
  std::uint64_t thefts = 0;
  run_on(4, "adws", [&](scheduler& pool) {
    const auto taken = [&] { return pool.stats().steals + pool.stats().leaps; };
    const std::uint64_t before = taken();
    for (int round = 0; round < rounds; ++round) {
      task_group g(4);
      for (int to = 3; to > 0; --to) {
        const auto given = [&note_theft, to] {
          platform::charge(1e3);
          note_theft(to);
        };
        g.run(given, 1);
      }
      g.run(
          [&] {
            task_group own;
            for (int i = 0; i < 64; ++i) {
              own.run([&] {
                platform::charge(5e3);
                note_theft(0);
              });
            }
            own.wait();
          },
          1);
      g.wait();
    }
    thefts = taken() - before;
  });
  const int tasks = std::accumulate(elsewhere.begin(), elsewhere.end(), 0);
  EXPECT_GT(tasks, rounds);
  EXPECT_EQ(thefts, static_cast<std::uint64_t>(tasks));
}

// A tree of tasks of 5 us, without hints.
TEST(adws_scale, a_balanced_tree) {
  constexpr int depth = 13;
  constexpr double task_s = 5e-6;
  for (const int workers : {7, 16, 64}) {
    double seconds = 0;
    run_on(workers, "adws", [&](scheduler&) {
      const auto tree = [&](const auto& self, int left) -> void {
        if (left == 0) return platform::charge(task_s * 1e9);
        fork_join([&] { self(self, left - 1); }, [&] { self(self, left - 1); });
      };
      const double begin_s = now_s();
      tree(tree, depth);
      seconds = now_s() - begin_s;
    });
    const double share = (1 << depth) * task_s / (seconds * workers);
    RecordProperty("share_" + std::to_string(workers), std::to_string(share));
    std::cout << workers << " workers: " << share << std::endl;
    EXPECT_GE(share, 0.8) << workers;
  }
}

// Groups with totals that are not waited for newest first. What comes after them is divided as before.
TEST(adws_groups, may_end_in_any_order) {
  constexpr int workers = 4;
  for (std::size_t groups = 2; groups <= 3; ++groups) {
    std::vector<std::size_t> order(groups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      std::array<int, workers> ran_on{};
      int ran = 0;
      run_on(workers, "adws_nosteal", [&](scheduler&) {
        std::array<task_group, 3> made{task_group(8), task_group(8), task_group(8)};
        for (int round = 0; round < 2; ++round) {
          for (std::size_t g = 0; g < groups; ++g) made[g].run([&] { platform::charge(20'000), ++ran; }, 2);
        }
        for (const std::size_t g : order) made[g].wait();
        task_group next(workers);
        for (std::size_t i = 0; i < workers; ++i) next.run([&, i] { ran_on[i] = this_worker(); }, 1);
        next.wait();
      });
      EXPECT_EQ(ran, 2 * static_cast<int>(groups));
      EXPECT_THAT(ran_on, ElementsAre(3, 2, 1, 0)) << testing::PrintToString(order);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// A construct ends when all others are through with it and asleep; what comes after it is taken all the same.
TEST(adws_groups, who_sleeps_at_the_end_of_one_takes_what_comes_next) {
  constexpr int workers = 4;
  double seconds = 0;
  run_on(workers, "adws", [&](scheduler&) {
    task_group group(workers);
    for (int i = 0; i < workers; ++i) group.run([] { platform::charge(1'000); }, 1);
    platform::charge(1e6);  // the others fall asleep
    group.wait();
    const double begin_s = now_s();
    // Whoever is asked is in the middle of an item, so at the end two more or less of them are a matter of luck.
    std::vector<int> roots(160);
    for_each_dynamic(roots, [](int&, feeder<int>&) { platform::charge(0.25e6); });
    seconds = now_s() - begin_s;
  });
  EXPECT_LE(seconds, 11e-3) << "on one worker it takes 40 ms";
}

// Half of the work is not where the hints say: stealing has to mend that.
TEST(adws_scale, wrong_hints) {
  constexpr double task_s = 5e-6;
  double seconds = 0;
  run_on(64, "adws", [&](scheduler&) {
    const auto tree = [&](const auto& self, int left, bool heavy) -> void {
      if (left == 0) return platform::charge((heavy ? 2 : 0.5) * task_s * 1e9);
      fork_join([&] { self(self, left - 1, heavy); }, [&] { self(self, left - 1, heavy); });
    };
    const double begin_s = now_s();
    fork_join([&] { tree(tree, 12, true); }, [&] { tree(tree, 12, false); });
    seconds = now_s() - begin_s;
  });
  const double share = (1 << 12) * 2.5 * task_s / (seconds * 64);
  std::cout << share << std::endl;
  EXPECT_GE(share, 0.7);
}

}  // namespace
}  // namespace filch::vm
