// Loops mean the same on every peer: each iteration once, rectangles that are the whole, values combined in order.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <omp.h>
#include <oneapi/tbb/task_arena.h>

#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr runner runners[] = {runner::serial,     runner::filch,        runner::tbb,   runner::tbb_simple,
                              runner::tbb_static, runner::tbb_affinity, runner::openmp};

// Enters OpenMP and a scheduler for all: the others do not mind. Worksharing loops are run outside of OpenMP.
template <class Kernel>
void for_each_peer(const Kernel& kernel) {
  scheduler pool({.workers = 3});
#pragma omp parallel num_threads(3)
#pragma omp single
  pool.run([&] {
    for (const runner on : runners) {
      SCOPED_TRACE(static_cast<int>(on));
      with_peer(on, kernel);
    }
  });
  for (const runner on : {runner::openmp_static, runner::openmp_dynamic}) {
    SCOPED_TRACE(static_cast<int>(on));
    omp_set_num_threads(3);
    with_peer(on, kernel);
  }
}

using counts = std::vector<std::atomic<int>>;

void expect_all(const counts& runs, int expected) {
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].load(), expected) << i;
}

TEST(peers, run_each_iteration_once) {
  for_each_peer([]<class Peer>() {
    for (const std::uint64_t grain : {0, 1, 7, 1000}) {
      for (const std::uint64_t n : {0, 1, 2, 100}) {
        counts runs(n);
        Peer::for_each_index(n, [&](std::uint64_t i) { ++runs[i]; }, grain);
        expect_all(runs, 1);
      }
    }
  });
}

TEST(peers, run_repeated_loops_and_parts) {
  for_each_peer([]<class Peer>() {
    counts runs(100);
    typename Peer::repeated_loop again;
    for (int round = 0; round < 5; ++round) again.run(runs.size(), [&](std::uint64_t i) { ++runs[i]; });
    expect_all(runs, 5);
    Peer::for_each_part(runs.size(), [&](std::uint64_t i) { ++runs[i]; });
    expect_all(runs, 6);
  });
}

TEST(peers, know_their_workers) {
  for_each_peer([]<class Peer>() {
    const int workers = Peer::workers();
    EXPECT_TRUE(workers == 1 || workers == 3 || workers == tbb::this_task_arena::max_concurrency()) << workers;
    std::mutex lock;
    std::map<std::uintptr_t, std::set<std::thread::id>> threads;
    Peer::for_each_index(1000, [&](std::uint64_t) {
      const std::lock_guard held(lock);
      threads[Peer::this_worker()].insert(std::this_thread::get_id());
    });
    EXPECT_LE(threads.size(), static_cast<std::size_t>(workers));
    for (const auto& [worker, its_threads] : threads) EXPECT_EQ(its_threads.size(), 1U) << worker;
  });
}

TEST(peers, run_loops_inside_of_loops) {
  for_each_peer([]<class Peer>() {
    counts runs(20 * 30);
    Peer::for_each_index(
        20, [&](std::uint64_t i) { Peer::for_each_index(30, [&, i](std::uint64_t j) { ++runs[i * 30 + j]; }); });
    expect_all(runs, 1);
  });
}

TEST(peers, cover_rows_and_columns) {
  for_each_peer([]<class Peer>() {
    for (const std::uint64_t rows : {0, 1, 9}) {
      for (const std::uint64_t columns : {0, 1, 40}) {
        counts runs(rows * columns);
        Peer::for_each_block(
            rows, columns,
            [&](std::uint64_t row_begin, std::uint64_t row_end, std::uint64_t column_begin, std::uint64_t column_end) {
              for (std::uint64_t row = row_begin; row < row_end; ++row) {
                for (std::uint64_t column = column_begin; column < column_end; ++column) ++runs[row * columns + column];
              }
            });
        expect_all(runs, 1);
      }
    }
  });
}

TEST(peers, combine_in_order) {
  for_each_peer([]<class Peer>() {
    const auto letter = [](std::uint64_t i) { return std::string(1, static_cast<char>('a' + i % 26)); };
    const auto joined = [](const std::string& a, const std::string& b) { return a + b; };
    for (const std::uint64_t grain : {0, 1, 7, 1000}) {
      for (const std::uint64_t n : {0, 1, 2, 100}) {
        std::string expected;
        for (std::uint64_t i = 0; i < n; ++i) expected += letter(i);
        EXPECT_EQ(Peer::reduce(n, std::string(), letter, joined, grain), expected) << n << ' ' << grain;
      }
    }
  });
}

TEST(peers, make_a_task_of_each_item) {
  for_each_peer([]<class Peer>() {
    counts runs(1000);
    Peer::for_each_task(std::uint32_t{0}, [&](std::uint32_t item, auto&& push) {
      ++runs[item];
      for (std::uint32_t below = 2 * item + 1; below < 2 * item + 3; ++below) {
        if (below < runs.size()) push(std::uint32_t{below});
      }
    });
    expect_all(runs, 1);
  });
}

/// The numbers of an interval, each a unit.
struct interval {
  counts* runs;
  std::size_t first;
  std::size_t last;

  bool step(std::size_t budget) {
    for (; budget != 0 && first != last; --budget) ++(*runs)[first++];
    return first != last;
  }
  std::optional<interval> split() {
    if (size() < 2) return std::nullopt;
    const std::size_t middle = first + size() / 2;
    return interval{runs, middle, std::exchange(last, middle)};
  }
  [[nodiscard]] std::size_t size() const { return last - first; }
};

TEST(peers, run_tasks_that_are_split) {
  for_each_peer([]<class Peer>() {
    for (const termination end : {termination::join, termination::counted}) {
      for (const std::size_t budget : {1U, 7U, 5000U}) {
        counts runs(1000);
        Peer::adaptive(interval{&runs, 0, runs.size()}, budget, end);
        expect_all(runs, 1);
      }
    }
  });
}

}  // namespace
}  // namespace filch::bench
