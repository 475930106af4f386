#include "executor.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <thread>

namespace filch::cli {

namespace {

class serial_executor final : public executor {
 public:
  serial_executor() : executor({.runner = bench::runner::serial}) {}

  double run(bench::instance& instance) override { return time_run(instance, bench::runner::serial); }
  void settle() const override {}
};

class filch_executor final : public executor {
 public:
  explicit filch_executor(const configuration& config) : executor(config), scheduler_(options_of(config)) {
    config_.workers = scheduler_.workers();
    fill_in(config_, scheduler_);
  }

  double run(bench::instance& instance) override {
    return scheduler_.run([&] { return time_run(instance, bench::runner::filch); });
  }
  std::optional<statistics> counters() const override { return scheduler_.stats(); }

  // Idle workers park after some 50 us.
  void settle() const override { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }

 private:
  scheduler scheduler_;
};

double process_cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

}  // namespace

std::unique_ptr<executor> make_serial_executor() { return std::make_unique<serial_executor>(); }

std::unique_ptr<executor> make_filch_executor(const configuration& config) {
  return std::make_unique<filch_executor>(config);
}

std::unique_ptr<executor> make_executor(const configuration& config) {
  switch (config.runner) {
    case bench::runner::serial:
      return make_serial_executor();
    case bench::runner::filch:
      return make_filch_executor(config);
    case bench::runner::tbb:
    case bench::runner::tbb_simple:
    case bench::runner::tbb_static:
    case bench::runner::tbb_affinity:
      return make_tbb_executor(config.runner, config.workers);
    case bench::runner::openmp:
    case bench::runner::openmp_static:
    case bench::runner::openmp_dynamic:
      return make_openmp_executor(config.runner, config.workers);
    case bench::runner::mpi:
    case bench::runner::analysed:
      break;
  }
  throw std::logic_error("a runner without an executor");
}

double time_run(bench::instance& instance, bench::runner runner) {
  using clock = std::chrono::steady_clock;
  instance.begin(runner);
  const clock::time_point start = clock::now();
  instance.run(runner);
  const std::chrono::duration<double> elapsed = clock::now() - start;
  // Tiny sizes can be faster than a tick of the clock, and times are divided by.
  return std::max(elapsed.count(), 1e-9);
}

void sleep_until_quiet() {
  // A window is longer than a scheduler tick, because processor time of running threads is accounted for at ticks.
  constexpr std::chrono::milliseconds window{5};
  constexpr double quiet_ms = 0.5;
  constexpr int most_windows = 12;
  for (int i = 0; i < most_windows; ++i) {
    const double before_ms = process_cpu_ms();
    std::this_thread::sleep_for(window);
    if (process_cpu_ms() - before_ms < quiet_ms) {
      return;
    }
  }
}

}  // namespace filch::cli
