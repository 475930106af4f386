#include "workload.hpp"

#include "catalogue.hpp"

namespace filch::bench {

const std::vector<workload>& workloads() {
  static const std::vector<workload> all = {
      fib_workload(),     fib_noinline_workload(), nqueens_workload(),       uts_workload(),
      uts_bag_workload(), matmul_workload(),       matmul_square_workload(), cilksort_workload(),
  };
  return all;
}

}  // namespace filch::bench
