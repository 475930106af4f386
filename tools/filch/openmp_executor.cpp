// OpenMP as a peer. With tasks: one thread of a parallel region runs the workload, the others take its tasks. With
// worksharing loops: the workload runs outside of parallel regions, and each of its loops is one.
#include <exception>
#include <memory>

#include <omp.h>

#include "executor.hpp"

namespace filch::cli {

namespace {

class openmp_task_executor final : public executor {
 public:
  explicit openmp_task_executor(int workers) : executor({.runner = bench::runner::openmp, .workers = workers}) {}

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

class openmp_loop_executor final : public executor {
 public:
  openmp_loop_executor(bench::runner runner, int workers) : executor({.runner = runner, .workers = workers}) {}

  double run(bench::instance& instance) override {
    const threads_of_regions limit(config_.workers);
    return time_run(instance, config_.runner);
  }

  void settle() const override { sleep_until_quiet(); }

 private:
  // Of the calling thread's parallel regions, while it exists.
  class threads_of_regions {
   public:
    explicit threads_of_regions(int workers) : before_(omp_get_max_threads()) { omp_set_num_threads(workers); }
    ~threads_of_regions() { omp_set_num_threads(before_); }
    threads_of_regions(const threads_of_regions&) = delete;
    threads_of_regions& operator=(const threads_of_regions&) = delete;

   private:
    int before_;
  };
};

}  // namespace

std::unique_ptr<executor> make_openmp_executor(bench::runner runner, int workers) {
  if (runner == bench::runner::openmp) return std::make_unique<openmp_task_executor>(workers);
  return std::make_unique<openmp_loop_executor>(runner, workers);
}

}  // namespace filch::cli
