// OpenMP as a peer: one thread of a parallel region runs the workload, the others take its tasks.
#include <exception>

#include "executor.hpp"

namespace filch::cli {

namespace {

class openmp_executor final : public executor {
 public:
  explicit openmp_executor(int workers) : executor({.runner = bench::runner::openmp, .workers = workers}) {}

  double run(bench::instance& instance) override {
    double seconds = 0;
    std::exception_ptr failure;
#pragma omp parallel num_threads(config_.workers)
#pragma omp single
    {
      // An exception that left the region would end the process.
      try {
        seconds = time_run(instance, bench::runner::openmp);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (failure) {
      std::rethrow_exception(failure);
    }
    return seconds;
  }

  // libgomp's threads spin for several milliseconds after a region.
  void settle() const override { sleep_until_quiet(); }
};

}  // namespace

std::unique_ptr<executor> make_openmp_executor(int workers) { return std::make_unique<openmp_executor>(workers); }

}  // namespace filch::cli
