#include "workload.hpp"

#include "catalogue.hpp"

namespace filch::bench {

const std::vector<workload>& workloads() {
  static const std::vector<workload> all = {
      fib_workload(),
      fib_noinline_workload(),
      fib_hints_workload(),
      nqueens_workload(),
      uts_workload(),
      uts_bag_workload(),
      matmul_workload(),
      matmul_square_workload(),
      cilksort_workload(),
      nqueens_loop_workload(),
      nqueens_reduce_workload(),
      tsp_workload(),
      tsp_reduce_workload(),
      spmv_workload(),
      spmv_rows_workload(),
      bfs_workload(),
      floyd_warshall_workload(),
      mm_workload(),
      conv_workload(),
      loops_workload(),
      fat_chunk_workload(),
      thick_first_workload(),
      nested_bar_workload(),
      flat_loop_workload(),
      matching_workload(),
      mis_workload(),
      hull_workload(),
      samplesort_workload(),
      dfs_workload(),
      dfs_tasks_workload(),
      dfs_coalesced_workload(),
      dfs_counted_workload(),
      heat2d_workload(),
      matmul_groups_workload(),
      sph_workload(),
      uts_places_workload(),
      nqueens_places_workload(),
      stencil_places_workload(),
      recorded_workload(),
  };
  return all;
}

}  // namespace filch::bench
