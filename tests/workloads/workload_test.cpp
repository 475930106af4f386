// Every workload gives the right result on every runner, with one worker and with several.
#include "workload.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <filch/filch.hpp>

#include "lone_farm.hpp"

namespace filch::bench {
namespace {

void run_inside(instance& subject, runner on) {
  subject.begin(on);
  subject.run(on);
}

// Enters the runner as programs that measure do, and runs the instance in it.
void run_on(runner on, int workers, instance& subject) {
  switch (on) {
    case runner::serial:
    case runner::analysed:
      run_inside(subject, on);
      return;
    case runner::mpi: {
      lone_farm farm;
      subject.run_on(farm);
      return;
    }
    case runner::filch: {
      scheduler pool({.workers = workers});
      pool.run([&] { run_inside(subject, on); });
      return;
    }
    case runner::tbb:
    case runner::tbb_simple:
    case runner::tbb_static:
    case runner::tbb_affinity: {
      // Also where there are fewer processors than workers.
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers));
      tbb::task_arena(workers).execute([&] { run_inside(subject, on); });
      return;
    }
    case runner::openmp:
#pragma omp parallel num_threads(workers)
#pragma omp single
      run_inside(subject, on);
      return;
    case runner::openmp_static:
    case runner::openmp_dynamic:
      omp_set_num_threads(workers);
      run_inside(subject, on);
      return;
  }
}

std::unique_ptr<instance> make_instance(std::string_view name_and_size) {
  const std::size_t colon = name_and_size.find(':');
  for (const workload& each : workloads()) {
    if (each.name == name_and_size.substr(0, colon)) return each.make(name_and_size.substr(colon + 1));
  }
  throw std::logic_error("no such workload");
}

std::string name_of(runner on) {
  switch (on) {
    case runner::serial:
      return "serial";
    case runner::analysed:
      return "analysed";
    case runner::mpi:
      return "mpi";
    case runner::filch:
      return "filch";
    case runner::tbb:
      return "tbb";
    case runner::tbb_simple:
      return "tbb_simple";
    case runner::tbb_static:
      return "tbb_static";
    case runner::tbb_affinity:
      return "tbb_affinity";
    case runner::openmp_static:
      return "openmp_static";
    case runner::openmp_dynamic:
      return "openmp_dynamic";
    case runner::openmp:
      break;
  }
  return "openmp";
}

using parameters = std::tuple<std::string, runner, int>;  // "workload:size", on what, workers

std::string name_of_test(const testing::TestParamInfo<parameters>& test) {
  const auto& [subject, on, workers] = test.param;
  std::string name = subject + "_" + name_of(on) + "_" + std::to_string(workers);
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class workload_test : public testing::TestWithParam<parameters> {};

TEST_P(workload_test, is_right) {
  const auto& [subject, on, workers] = GetParam();
  const std::unique_ptr<instance> made = make_instance(subject);
  // Twice: a second run must not see what the first left behind.
  for (int round = 0; round < 2; ++round) {
    made->prepare();
    run_on(on, workers, *made);
    EXPECT_TRUE(made->verify()) << made->result();
  }
}

const std::string subjects[] = {
    "fib:0",
    "fib:1",
    "fib:2",
    "fib:20",
    "fib:20/10",
    "fib:10/20",
    "fib_noinline:20/2",
    "fib_noinline:20/7",
    "fib_noinline:1",
    "fib_noinline:20",
    "fib_hints:1",
    "fib_hints:20",
    "fib_hints:20/7",
    "nqueens:1",
    "nqueens:3",
    "nqueens:8",
    "nqueens:9/3",
    "uts:bin/b0=200/q=0.2/m=4/seed=1",
    "uts:bin/b0=10/q=0/m=4/seed=1",
    "uts:geo/a0/d=8/b0=4/seed=4",
    "uts:geo/a1/d=6/b0=4/seed=4",
    "uts:geo/a2/d=3/b0=4/seed=7",
    "uts:geo/a3/d=6/b0=4/seed=19",
    "uts:hybrid/a0/d=16/b0=3/q=0.23/m=4/seed=1",
    "uts_bag:bin/b0=200/q=0.2/m=4/seed=1",
    "uts_bag:bin/b0=200/q=0.2/m=4/seed=1/eager_chunker",
    "uts_bag:bin/b0=200/q=0.2/m=4/seed=1/steal_half/2",
    "uts_bag:geo/a3/d=6/b0=4/seed=19/naive_lazy/8",
    "uts_bag:geo/a3/d=6/b0=4/seed=19/lazy_splitter/8",
    "uts_bag:geo/a3/d=6/b0=4/seed=19/standard",
    "matmul:1",
    "matmul:16",
    "matmul:17",
    "matmul:100",
    "matmul_square:1",
    "matmul_square:64",
    "cilksort:1",
    "cilksort:2048",
    "cilksort:2049",
    "cilksort:100000",
    "cilksort:exponential/1",
    "cilksort:exponential/50000",
    "dfs:grid2d/1",
    "dfs:grid2d/10000",
    "dfs:grid3d/8000",
    "dfs:rlg/5000",
    "dfs:rmat/5000",
    "dfs_tasks:grid2d/1",
    "dfs_tasks:grid3d/8000",
    "dfs_tasks:rmat/5000",
    "dfs_coalesced:grid2d/1",
    "dfs_coalesced:grid3d/8000",
    "dfs_coalesced:rlg/5000",
    "dfs_coalesced:rmat/5000",
    "dfs_counted:grid2d/1",
    "dfs_counted:grid3d/8000",
    "dfs_counted:rmat/5000",
    "matmul_groups:8/8",
    "matmul_groups:16/8",
    "matmul_groups:128",
    "matmul_groups:128/16",
    "heat2d:64",
    "heat2d:256/iterations=7",
    "heat2d:256/iterations=8/first_touch/map",
    "heat2d:128/wrong=100/iterations=6",
    "heat2d:256/random_wrong=100/iterations=7/first_touch",
};

const std::string loop_subjects[] = {
    "nqueens_loop:1",
    "nqueens_loop:3",
    "nqueens_loop:7",
    "nqueens_loop:8/4",
    "nqueens_reduce:1",
    "nqueens_reduce:7",
    "nqueens_reduce:8/4",
    "tsp:3",
    "tsp:9",
    "tsp:10/5",
    "tsp_reduce:3",
    "tsp_reduce:9",
    "tsp_reduce:10/5",
    "spmv:1",
    "spmv:60",
    "spmv_rows:1",
    "spmv_rows:1000",
    "bfs:1",
    "bfs:2",
    "bfs:1000",
    "floyd_warshall:2",
    "floyd_warshall:21",
    "mm:1",
    "mm:40",
    "conv:1",
    "conv:33",
    "loops:2ns/1x1",
    "loops:2ns/7x1001",
    "loops:20ns/30x50",
    "fat_chunk:1/1",
    "fat_chunk:500/4",
    "thick_first:2",
    "thick_first:3000",
    "nested_bar:1",
    "nested_bar:40",
    "flat_loop:1",
    "flat_loop:3000",
    "flat_loop:3000/7",
    "flat_loop:8/100",
    "matching:grid2d/1",
    "matching:grid2d/4",
    "matching:grid3d/8000",
    "matching:rlg/5000",
    "matching:rmat/5000",
    "mis:grid2d/1",
    "mis:grid2d/4",
    "mis:grid3d/8000",
    "mis:rlg/5000",
    "mis:rmat/5000",
    "hull:uniform/1",
    "hull:uniform/2",
    "hull:uniform/3",
    "hull:uniform/2048",
    "hull:uniform/50000",
    "hull:plummer/2",
    "hull:plummer/50000",
    "samplesort:1",
    "samplesort:random/16384",
    "samplesort:random/16385",
    "samplesort:exponential/50000",
    "heat2d:64/iterations=6/tiles",
    "heat2d:256/iterations=7/tiles/first_touch",
    "heat2d:256/iterations=8/blocks",
    "sph:2d/1",
    "sph:2d/200",
    "sph:2d/200/loop",
    "sph:3d/100/iterations=6",
};

INSTANTIATE_TEST_SUITE_P(serial, workload_test,
                         testing::Combine(testing::ValuesIn(subjects), testing::Values(runner::serial),
                                          testing::Values(1)),
                         name_of_test);

INSTANTIATE_TEST_SUITE_P(serial_loops, workload_test,
                         testing::Combine(testing::ValuesIn(loop_subjects), testing::Values(runner::serial),
                                          testing::Values(1)),
                         name_of_test);

// oneTBB's ways of splitting differ for loops only.
INSTANTIATE_TEST_SUITE_P(parallel_loops, workload_test,
                         testing::Combine(testing::ValuesIn(loop_subjects),
                                          testing::Values(runner::filch, runner::tbb, runner::tbb_simple,
                                                          runner::tbb_static, runner::tbb_affinity, runner::openmp,
                                                          runner::openmp_static, runner::openmp_dynamic),
                                          testing::Values(1, 3)),
                         name_of_test);

INSTANTIATE_TEST_SUITE_P(parallel, workload_test,
                         testing::Combine(testing::ValuesIn(subjects),
                                          testing::Values(runner::filch, runner::tbb, runner::openmp),
                                          testing::Values(1, 2, 4)),
                         name_of_test);

INSTANTIATE_TEST_SUITE_P(farm, workload_test,
                         testing::Combine(testing::Values("uts_places:bin/b0=200/q=0.2/m=4/seed=1",
                                                          "uts_places:geo/a3/d=6/b0=4/seed=19", "nqueens_places:1",
                                                          "nqueens_places:8", "nqueens_places:7/1",
                                                          "nqueens_places:7/7"),
                                          testing::Values(runner::serial, runner::mpi), testing::Values(1)),
                         name_of_test);

TEST(workload, is_not_right_before_it_ran) {
  for (const char* const subject : {"fib:20",
                                    "fib_hints:20",
                                    "nqueens:8",
                                    "uts:geo/a3/d=6/b0=4/seed=19",
                                    "matmul:17",
                                    "matmul_square:16",
                                    "cilksort:100",
                                    "nqueens_loop:3",
                                    "nqueens_reduce:7",
                                    "tsp:8",
                                    "tsp_reduce:8",
                                    "spmv:60",
                                    "spmv_rows:60",
                                    "bfs:500",
                                    "floyd_warshall:20",
                                    "mm:20",
                                    "conv:20",
                                    "loops:2ns/3x50",
                                    "fat_chunk:50/2",
                                    "thick_first:50",
                                    "nested_bar:5",
                                    "flat_loop:50/8",
                                    "matching:grid2d/100",
                                    "mis:rlg/500",
                                    "hull:uniform/50",
                                    "hull:plummer/5000",
                                    "samplesort:50",
                                    "samplesort:exponential/50000",
                                    "cilksort:exponential/5000",
                                    "dfs:rmat/500",
                                    "dfs_tasks:rmat/500",
                                    "dfs_coalesced:rmat/500",
                                    "heat2d:128",
                                    "matmul_groups:64/32",
                                    "heat2d:64/first_touch",
                                    "sph:2d/100"}) {
    const std::unique_ptr<instance> made = make_instance(subject);
    made->prepare();
    EXPECT_FALSE(made->verify()) << subject;
    run_inside(*made, runner::serial);
    EXPECT_TRUE(made->verify()) << subject;
    made->prepare();
    EXPECT_FALSE(made->verify()) << subject;
  }
}

TEST(workload, counts_its_tasks) {
  EXPECT_EQ(make_instance("fib:1")->tasks(), 0U);
  EXPECT_EQ(make_instance("fib:20")->tasks(), 10945U);  // fib(21) - 1
  EXPECT_EQ(make_instance("fib:20/2")->tasks(), 10945U);
  EXPECT_EQ(make_instance("fib:9/10")->tasks(), 0U);
  EXPECT_EQ(make_instance("fib_hints:20")->tasks(), 10945U);
  EXPECT_EQ(make_instance("fib:12/10")->tasks(), 4U);  // 12, 11, and 10 twice
  // Placements that attack nothing: 4 of one queen, then 6 of two, 4 of three and 2 of four.
  EXPECT_EQ(make_instance("nqueens:4")->tasks(), 16U);
  EXPECT_EQ(make_instance("nqueens:4/1")->tasks(), 4U);
  EXPECT_EQ(make_instance("uts:bin/b0=10/q=0/m=4/seed=1")->tasks(), 9U);
  EXPECT_EQ(make_instance("uts_bag:bin/b0=10/q=0/m=4/seed=1")->tasks(), 11U);  // the root and its children
  EXPECT_EQ(make_instance("matmul:16")->tasks(), 0U);
  EXPECT_EQ(make_instance("matmul:32")->tasks(), 3U);  // rows, then the columns of both halves
  EXPECT_EQ(make_instance("matmul_square:32")->tasks(), 6U);
  EXPECT_EQ(make_instance("matmul_square:64")->tasks(), 6U + 8 * 6);
  EXPECT_EQ(make_instance("cilksort:2048")->tasks(), 0U);
  // Iterations: four for each place of a queen in a row that is not the last, and for the first row.
  EXPECT_EQ(make_instance("nqueens_loop:4")->tasks(), 4U * (1 + 4 + 6 + 4));
  EXPECT_EQ(make_instance("nqueens_reduce:4")->tasks(), 4U * (1 + 4 + 6 + 4));
  EXPECT_EQ(make_instance("nqueens_loop:4/1")->tasks(), 4U);
  // Both tours through three cities are shortest ones: three cities to look at for each of 1 + 2 paths.
  EXPECT_EQ(make_instance("tsp:3")->tasks(), 3U * (1 + 2));
  EXPECT_EQ(make_instance("tsp_reduce:3/1")->tasks(), 3U);
  EXPECT_EQ(make_instance("spmv_rows:1000")->tasks(), 20'000U);
  EXPECT_EQ(make_instance("floyd_warshall:10")->tasks(), 1000U);
  EXPECT_EQ(make_instance("mm:10")->tasks(), 100U);
  EXPECT_EQ(make_instance("conv:10")->tasks(), 100U);
  EXPECT_EQ(make_instance("loops:2ns/3x50")->tasks(), 153U);
  EXPECT_EQ(make_instance("fat_chunk:50/2")->tasks(), 50U);
  EXPECT_EQ(make_instance("nested_bar:5")->tasks(), 10U);
  EXPECT_EQ(make_instance("flat_loop:50/8")->tasks(), 50U);
  // One vertex, and one edge: one round, whose block commits and has nothing left.
  EXPECT_EQ(make_instance("mis:grid2d/1")->tasks(), 1U + 1 + 1);
  EXPECT_EQ(make_instance("matching:rlg/2")->tasks(), 1U + 1 + 1);
  EXPECT_EQ(make_instance("dfs:grid3d/27")->tasks(), 27U);
  EXPECT_EQ(make_instance("hull:uniform/1")->tasks(), 1U);  // the one block's extent
  EXPECT_EQ(make_instance("samplesort:16384")->tasks(), 0U);
  EXPECT_EQ(make_instance("matmul_groups:128")->tasks(), 0U);
  EXPECT_EQ(make_instance("matmul_groups:512")->tasks(), 8U + 8 * 8);
  EXPECT_EQ(make_instance("heat2d:64")->tasks(), 0U);
  EXPECT_EQ(make_instance("heat2d:256")->tasks(), 15U * (4 + 16));  // of each iteration that is timed
  EXPECT_EQ(make_instance("heat2d:256/tiles/iterations=7")->tasks(), 2U * 16);
  EXPECT_EQ(make_instance("cilksort:2049")->tasks(), 5U);  // four quarters, two merges, the last merge in halves
}

TEST(workload, runs_on_every_policy_and_join) {
  for (const combination& each : combinations()) {
    for (const std::string_view join : each.joins) {
      scheduler pool({.workers = 3, .policy = std::string(each.policy), .join = std::string(join)});
      for (const char* const subject : {"fib:20",
                                        "fib_hints:20",
                                        "nqueens:8",
                                        "uts:geo/a3/d=6/b0=4/seed=19",
                                        "uts_bag:geo/a3/d=6/b0=4/seed=19",
                                        "cilksort:20000",
                                        "nqueens_loop:7",
                                        "spmv:60",
                                        "floyd_warshall:20",
                                        "matching:rlg/2000",
                                        "mis:rmat/2000",
                                        "hull:plummer/20000",
                                        "samplesort:exponential/20000",
                                        "dfs:rlg/2000",
                                        "dfs_tasks:rlg/2000",
                                        "dfs_coalesced:rlg/2000",
                                        "dfs_counted:rlg/2000",
                                        "heat2d:256/iterations=7",
                                        "matmul_groups:128/32",
                                        "sph:2d/200/iterations=6"}) {
        const std::unique_ptr<instance> made = make_instance(subject);
        made->prepare();
        pool.run([&] { run_inside(*made, runner::filch); });
        EXPECT_TRUE(made->verify()) << subject << " on " << each.policy << " with " << join << ": " << made->result();
      }
    }
  }
}

// Calls a function on a thread with a stack of 256 KB, whatever the limits of the process.
void call_on_small_stack(std::function<void()> function) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{256} << 10), 0);
  const auto call = [](void* f) -> void* {
    (*static_cast<std::function<void()>*>(f))();
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &function), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(workload, uts_bag_needs_no_deep_stack) {
  const std::unique_ptr<instance> deep = make_instance("uts_bag:T3");
  for (const runner on : {runner::serial, runner::filch}) {
    deep->prepare();
    call_on_small_stack([&] { run_on(on, 2, *deep); });
    EXPECT_TRUE(deep->verify()) << name_of(on);
  }
}

TEST(workload, too_deep_for_the_stack_is_an_error_that_says_so) {
  const std::unique_ptr<instance> deep = make_instance("uts:T3");
  deep->prepare();
  std::string error;
  call_on_small_stack([&] {
    try {
      deep->run(runner::serial);
    } catch (const std::runtime_error& thrown) {
      error = thrown.what();
    }
  });
  EXPECT_THAT(error, testing::StartsWith("uts: tree 'T3' is 1572 nodes deep and needs "));
  EXPECT_THAT(error, testing::HasSubstr("run 'ulimit -s "));
}

}  // namespace
}  // namespace filch::bench
