// One function per workload file; `workloads()` lists them.
#pragma once

#include "workload.hpp"

namespace filch::bench {

workload fib_workload();
workload fib_noinline_workload();
workload fib_hints_workload();
workload nqueens_workload();
workload uts_workload();
workload uts_bag_workload();
workload matmul_workload();
workload matmul_square_workload();
workload cilksort_workload();
workload nqueens_loop_workload();
workload nqueens_reduce_workload();
workload tsp_workload();
workload tsp_reduce_workload();
workload spmv_workload();
workload spmv_rows_workload();
workload bfs_workload();
workload floyd_warshall_workload();
workload mm_workload();
workload conv_workload();
workload loops_workload();
workload fat_chunk_workload();
workload thick_first_workload();
workload nested_bar_workload();
workload flat_loop_workload();
workload matching_workload();
workload mis_workload();
workload hull_workload();
workload samplesort_workload();
workload dfs_workload();
workload dfs_tasks_workload();
workload dfs_coalesced_workload();
workload dfs_counted_workload();
workload heat2d_workload();
workload matmul_groups_workload();
workload sph_workload();
workload uts_places_workload();
workload nqueens_places_workload();
workload stencil_places_workload();
workload recorded_workload();

}  // namespace filch::bench
