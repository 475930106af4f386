// One function per workload file; `workloads()` lists them.
#pragma once

#include "workload.hpp"

namespace filch::bench {

workload fib_workload();
workload fib_noinline_workload();
workload nqueens_workload();
workload uts_workload();
workload uts_bag_workload();
workload matmul_workload();
workload matmul_square_workload();
workload cilksort_workload();

}  // namespace filch::bench
