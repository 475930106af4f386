// Bad sizes: one line that names the value, the reason and a size that works.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload.hpp"

namespace filch::bench {
namespace {

const workload& find(std::string_view name) {
  const auto found =
      std::find_if(workloads().begin(), workloads().end(), [&](const auto& w) { return w.name == name; });
  if (found == workloads().end()) throw std::logic_error("no such workload");
  return *found;
}

std::string error_of(std::string_view name, std::string_view size) {
  try {
    find(name).make(size);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(size, out_of_range_names_the_range) {
  EXPECT_EQ(error_of("fib", "99"), "fib: size '99' is out of range (0 to 60); try fib:36");
  EXPECT_EQ(error_of("fib_noinline", "-1"), "fib_noinline: size '-1' is out of range (0 to 60); try fib_noinline:36");
  EXPECT_EQ(error_of("nqueens", "0"), "nqueens: size '0' is out of range (1 to 18); try nqueens:12");
  EXPECT_EQ(error_of("matmul", "0"), "matmul: size '0' is out of range (1 to 16384); try matmul:1024");
  EXPECT_EQ(error_of("cilksort", "99999999999999999999"),
            "cilksort: size '99999999999999999999' is out of range (1 to 1000000000); try cilksort:10000000");
}

TEST(size, must_be_a_whole_number_and_nothing_else) {
  for (const char* const name :
       {"fib", "fib_noinline", "fib_hints", "nqueens", "matmul", "matmul_square", "cilksort"}) {
    for (const std::string size : {"", " 8", "8 ", "+8", "8x", "0x8", "8.0", "1e3", "eight"}) {
      EXPECT_THAT(error_of(name, size), testing::HasSubstr("size '" + size + "' is not a whole number; try ")) << name;
    }
  }
}

TEST(size, of_fib_may_have_a_cutoff) {
  EXPECT_EQ(error_of("fib", "20/1"), "fib: size '20/1' has '1', which is out of range (2 to 60); try fib:36");
  EXPECT_EQ(error_of("fib", "20/"), "fib: size '20/' has '', which is not a whole number; try fib:36");
  EXPECT_EQ(error_of("fib_noinline", "99/20"),
            "fib_noinline: size '99/20' has '99', which is out of range (0 to 60); try fib_noinline:36");
}

TEST(size, of_fib_hints_is_one_of_fib) {
  EXPECT_EQ(error_of("fib_hints", "61"), "fib_hints: size '61' is out of range (0 to 60); try fib_hints:36");
  EXPECT_EQ(error_of("fib_hints", "20/1"),
            "fib_hints: size '20/1' has '1', which is out of range (2 to 60); try fib_hints:36");
}

TEST(size, of_nqueens_may_have_a_cutoff_up_to_n) {
  EXPECT_EQ(error_of("nqueens", "12/13"),
            "nqueens: size '12/13' has '13', which is out of range (1 to 12); try nqueens:12");
  EXPECT_EQ(error_of("nqueens", "12/"), "nqueens: size '12/' has '', which is not a whole number; try nqueens:12");
}

TEST(size, of_loop_workloads_is_strict) {
  for (const char* const name : {"nqueens_loop", "nqueens_reduce", "tsp", "tsp_reduce", "spmv", "spmv_rows", "bfs",
                                 "floyd_warshall", "mm", "conv", "thick_first", "nested_bar", "flat_loop"}) {
    for (const std::string size : {"", " 8", "8 ", "+8", "8x", "0x8", "8.0", "1e3", "eight"}) {
      EXPECT_THAT(error_of(name, size), testing::HasSubstr("size '" + size + "' is not a whole number; try ")) << name;
    }
    EXPECT_THAT(error_of(name, "99999999999999999999"), testing::HasSubstr("' is out of range (")) << name;
    EXPECT_THAT(error_of(name, "0"), testing::HasSubstr("'0' is out of range (")) << name;
  }
  EXPECT_EQ(error_of("tsp", "12/13"), "tsp: size '12/13' has '13', which is out of range (1 to 12); try tsp:17");
}

TEST(size, of_loops_is_a_body_and_two_numbers) {
  EXPECT_EQ(error_of("loops", "3ns"), "loops: size '3ns' does not begin with 2ns or 20ns; try loops:2ns");
  EXPECT_EQ(error_of("loops", "2ns/10"),
            "loops: size '2ns/10' has no 'x' between its two numbers of iterations; try loops:2ns");
  EXPECT_EQ(error_of("loops", "2ns/10x"), "loops: size '2ns/10x' has '', which is not a whole number; try loops:2ns");
  EXPECT_EQ(error_of("loops", "20ns/0x9"),
            "loops: size '20ns/0x9' has '0', which is out of range (1 to 100000); try loops:2ns");
}

TEST(size, of_fat_chunk_says_how_many_are_fat) {
  EXPECT_EQ(error_of("fat_chunk", "64"),
            "fat_chunk: size '64' does not say how many iterations are fat; try fat_chunk:65536/256");
  EXPECT_EQ(error_of("fat_chunk", "64/65"),
            "fat_chunk: size '64/65' has '65', which is out of range (1 to 64); try fat_chunk:65536/256");
}

TEST(size, of_flat_loop_has_a_grain) {
  EXPECT_EQ(error_of("flat_loop", "64/0"),
            "flat_loop: size '64/0' has '0', which is out of range (1 to 100000000); try flat_loop:1048576/16");
}

TEST(size, of_graph_workloads_names_a_graph_and_its_vertices) {
  for (const std::string name : {"matching", "mis", "dfs", "dfs_coalesced", "dfs_counted"}) {
    for (const std::string size : {"", "5", "grid2d", "grid/5", "/5", "rmat5", " rmat/5", "rMat/5"}) {
      EXPECT_THAT(
          error_of(name, size),
          testing::StartsWith(name + ": size '" + size +
                              "' does not begin with grid2d/, grid3d/, rlg/, rmat/ or file/; try " + name + ":rlg/"));
    }
    for (const std::string number : {"", "x", "-", "5x", " 5", "1e3", "5/5"}) {
      EXPECT_THAT(error_of(name, "rmat/" + number),
                  testing::HasSubstr("has '" + number + "', which is not a whole number"));
    }
    for (const std::string number : {"0", "-1", "50000001", "99999999999999999999"}) {
      EXPECT_THAT(error_of(name, "rlg/" + number),
                  testing::HasSubstr("has '" + number + "', which is out of range (1 to 50000000)"));
    }
    EXPECT_THAT(error_of(name, "grid2d/1000"),
                testing::HasSubstr("has '1000', which is not a square number; the nearest is 1024; try "));
    EXPECT_THAT(error_of(name, "grid3d/50000000"),
                testing::HasSubstr("has '50000000', which is not a cube number; the nearest is 49836032; try "));
    EXPECT_EQ(error_of(name, "grid2d/1024"), "no error");
    EXPECT_EQ(error_of(name, "grid3d/49836032"), "no error");
  }
  EXPECT_EQ(error_of("dfs_tasks", "grid3d/1000000"), "no error");
  EXPECT_EQ(error_of("dfs_tasks", "rlg/1000001"),
            "dfs_tasks: size 'rlg/1000001' has '1000001' vertices, more than the 1000000 that may be tasks; try "
            "dfs_tasks:rlg/1000000");
}

TEST(size, of_sorts_may_begin_with_a_kind_of_numbers) {
  for (const std::string name : {"samplesort", "cilksort"}) {
    for (const std::string size : {"exponential5/5", "/5", "Random/5", " random/5", "5/5"}) {
      EXPECT_THAT(
          error_of(name, size),
          testing::StartsWith(name + ": size '" + size + "' does not begin with random/ or exponential/; try " + name));
    }
    EXPECT_THAT(error_of(name, "exponential"), testing::HasSubstr("size 'exponential' is not a whole number"));
    EXPECT_THAT(error_of(name, "exponential/"), testing::HasSubstr("has '', which is not a whole number"));
    EXPECT_THAT(error_of(name, "exponential/5x"), testing::HasSubstr("has '5x', which is not a whole number"));
    EXPECT_THAT(error_of(name, "random/0"), testing::HasSubstr("has '0', which is out of range (1 to 1000000000)"));
  }
}

TEST(size, of_hull_is_a_kind_of_points_and_their_number) {
  for (const std::string size : {"", "5", "uniform", "disk/5", "uniform5"}) {
    EXPECT_EQ(error_of("hull", size),
              "hull: size '" + size + "' does not begin with uniform/ or plummer/; try hull:uniform/10000000");
  }
  EXPECT_EQ(error_of("hull", "plummer/0"),
            "hull: size 'plummer/0' has '0', which is out of range (1 to 1000000000); try hull:uniform/10000000");
  EXPECT_EQ(error_of("hull", "plummer/1e6"),
            "hull: size 'plummer/1e6' has '1e6', which is not a whole number; try hull:uniform/10000000");
}

TEST(size, of_matmul_groups_is_two_powers_of_two) {
  EXPECT_EQ(error_of("matmul_groups", "64"),
            "matmul_groups: size '64' is out of range (128 to 16384); try matmul_groups:1024");
  EXPECT_EQ(error_of("matmul_groups", "384"),
            "matmul_groups: size '384' has '384', which is not a power of two; try matmul_groups:1024");
  EXPECT_EQ(error_of("matmul_groups", "256/24"),
            "matmul_groups: size '256/24' has '24', which is not a power of two; try matmul_groups:1024");
  EXPECT_EQ(error_of("matmul_groups", "256/4"),
            "matmul_groups: size '256/4' has '4', which is out of range (8 to 16384); try matmul_groups:1024");
  EXPECT_EQ(error_of("matmul_groups", "256/512"),
            "matmul_groups: size '256/512' has '256', which is out of range (512 to 16384); try matmul_groups:1024");
}

TEST(size, of_heat2d_is_a_power_of_two_with_parts) {
  using testing::HasSubstr;
  EXPECT_EQ(error_of("heat2d", "96"), "heat2d: size '96' has '96', which is not a power of two; try heat2d:2048");
  EXPECT_EQ(error_of("heat2d", "32"), "heat2d: size '32' is out of range (64 to 16384); try heat2d:2048");
  EXPECT_EQ(error_of("heat2d", "64/iterations=5"),
            "heat2d: size '64/iterations=5' has '5', which is out of range (6 to 10000); try heat2d:2048");
  EXPECT_EQ(error_of("heat2d", "64/firsttouch"),
            "heat2d: size '64/firsttouch' has 'firsttouch', which is none of iterations=, first_touch, wrong=, "
            "random_wrong=, tiles, blocks, map; try heat2d:2048");
  EXPECT_EQ(
      error_of("heat2d", "64/tiles/blocks"),
      "heat2d: size '64/tiles/blocks' has both tiles and blocks, but iterations are divided once; try heat2d:2048");
  EXPECT_THAT(error_of("heat2d", "64/"), HasSubstr("has '', which is none of"));
  EXPECT_THAT(error_of("heat2d", "64/map/map"), HasSubstr("has 'map' twice"));
  EXPECT_THAT(error_of("heat2d", "64/map=1"), HasSubstr("has 'map=', which is none of"));
  EXPECT_THAT(error_of("heat2d", "64/wrong=101"), HasSubstr("has '101', which is out of range (0 to 100)"));
  EXPECT_THAT(error_of("heat2d", "64/wrong=nan"), HasSubstr("has 'nan', which is out of range (0 to 100)"));
  EXPECT_THAT(error_of("heat2d", "64/wrong=1/random_wrong=1"), HasSubstr("has hints that are wrong in two ways"));
  EXPECT_THAT(error_of("heat2d", "64/blocks/wrong=1"),
              HasSubstr("has hints that are wrong, but a loop, which has none"));
}

TEST(size, of_matmul_square_is_a_power_of_two) {
  EXPECT_EQ(error_of("matmul_square", "24"), "matmul_square: size '24' is not a power of two; try matmul_square:1024");
}

TEST(size, of_uts_bag_ends_with_a_way_and_a_chunk) {
  using testing::HasSubstr;
  EXPECT_EQ(error_of("uts_bag", "T1/lazy_splitter/8"), "no error");
  EXPECT_EQ(error_of("uts_bag", "geo/a3/d=6/b0=4/seed=19"), "no error");
  EXPECT_EQ(error_of("uts_bag", "T1/8"),
            "uts_bag: size 'T1/8' has a chunk '8', but no way to share before it; try uts_bag:T1/lazy_splitter/8");
  EXPECT_EQ(error_of("uts_bag", "T1/naive_lazy/0"),
            "uts_bag: size 'T1/naive_lazy/0' has '0', which is out of range (1 to 1000000000); try "
            "uts_bag:T1/lazy_splitter/8");
  EXPECT_THAT(error_of("uts_bag", "T1/naive_lazy/"), HasSubstr("has '', which is not a whole number"));
  EXPECT_THAT(error_of("uts_bag", "T1/standard/8"), HasSubstr("has a chunk, which the way 'standard' has not"));
  EXPECT_THAT(error_of("uts_bag", "T1/lazy/"), HasSubstr("no way to share before it"));
  EXPECT_THAT(error_of("uts_bag", "T9/naive_lazy"), HasSubstr("size 'T9' is not a tree (T1, "));
  EXPECT_THAT(error_of("uts_bag", "T1/lazy"), HasSubstr("size 'T1/lazy' is not a tree (T1, "));
  EXPECT_THAT(error_of("uts_bag", ""), HasSubstr("is not a tree"));
}

TEST(size, of_uts_names_what_is_wrong_with_the_tree) {
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(error_of("uts", "T9"), AllOf(HasSubstr("'T9' is not a tree (T1, "), HasSubstr("try uts:T1")));
  EXPECT_THAT(error_of("uts", ""), HasSubstr("is not a tree"));
  EXPECT_THAT(error_of("uts", "bin/b0=3/q=0.1/m=2"),
              AllOf(HasSubstr("has no 'seed='"), HasSubstr("try uts:bin/b0=200/q=0.2/m=4/seed=1")));
  EXPECT_THAT(error_of("uts", "bin/b0=3/q=0.5/m=2/seed=1"),
              HasSubstr("has q*m = 1; from 1 on the tree may be infinite"));
  EXPECT_THAT(error_of("uts", "bin/b0=3/q=nan/m=2/seed=1"), HasSubstr("has 'nan', which is out of range (0 to 1)"));
  EXPECT_THAT(error_of("uts", "bin/b0=3/q=0.1/m=2/seed=1/seed=2"), HasSubstr("unknown or repeated part 'seed=2'"));
  EXPECT_THAT(error_of("uts", "geo/d=3/b0=3/seed=1"), HasSubstr("has no shape"));
  EXPECT_THAT(error_of("uts", "geo/a1/d=1/b0=3/seed=1"), HasSubstr("has '1', which is out of range (2 to "));
  EXPECT_THAT(error_of("uts", "geo/a3/d=6/b0=101/seed=1"), HasSubstr("has '101', which is out of range (0 to 100)"));
  EXPECT_THAT(error_of("uts", "geo/a3/d=6/b0=4/seed=-1"), HasSubstr("has '-1', which is out of range"));
}

TEST(size, listed_by_a_workload_is_accepted_by_it) {
  for (const workload& each : workloads()) {
    EXPECT_THAT(each.sizes, testing::Contains(each.default_size)) << each.name;
    EXPECT_FALSE(each.summary.empty()) << each.name;
    for (const std::string& size : each.sizes) EXPECT_NE(each.make(size), nullptr) << each.name << ':' << size;
  }
}

TEST(size, of_sph) {
  EXPECT_EQ(error_of("sph", "35888"), "sph: size '35888' does not begin with 2d/ or 3d/; try sph:2d/35888");
  EXPECT_EQ(error_of("sph", "2d/"), "sph: size '2d/' has '', which is not a whole number; try sph:2d/35888");
  EXPECT_EQ(error_of("sph", "3d/0"),
            "sph: size '3d/0' has '0', which is out of range (1 to 10000000); try sph:2d/35888");
  EXPECT_EQ(error_of("sph", "2d/9/iterations=5"),
            "sph: size '2d/9/iterations=5' has '5', which is out of range (6 to 100000); try sph:2d/35888");
  EXPECT_EQ(error_of("sph", "2d/9/loops"),
            "sph: size '2d/9/loops' has 'loops', which is none of loop, iterations=; try sph:2d/35888");
  EXPECT_EQ(error_of("sph", "2d/9/"), "sph: size '2d/9/' has '', which is none of loop, iterations=; try sph:2d/35888");
}

}  // namespace
}  // namespace filch::bench
