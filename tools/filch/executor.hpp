// Runs a workload inside one runtime: enters the runtime, times the workload there, and keeps the runtime's threads
// asleep between runs. One executor lives as long as the measurement of all workloads, so no run pays for its set-up.
#pragma once

#include <memory>
#include <optional>

#include <filch/scheduler.hpp>

#include "configuration.hpp"
#include "workload.hpp"

namespace filch::cli {

class executor {
 public:
  explicit executor(configuration config) : config_(std::move(config)) {}
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  /// What is run, with the settings that were left open filled in.
  const configuration& config() const { return config_; }

  /// Seconds that one run of the workload took; entering and leaving the runtime is not timed.
  virtual double run(bench::instance& instance) = 0;

  /// The scheduler's counters since it was made; nothing for runtimes without counters.
  virtual std::optional<statistics> counters() const { return std::nullopt; }

  /// Waits until the runtime's threads have gone to sleep, so that they do not disturb whatever runs next.
  virtual void settle() const = 0;

 protected:
  configuration config_;
};

/// Throws std::invalid_argument when the library refuses the settings.
std::unique_ptr<executor> make_executor(const configuration& config);

std::unique_ptr<executor> make_serial_executor();
std::unique_ptr<executor> make_filch_executor(const configuration& config);
std::unique_ptr<executor> make_tbb_executor(bench::runner runner, int workers);
std::unique_ptr<executor> make_openmp_executor(bench::runner runner, int workers);

/// Seconds that `instance.run(runner)` takes; called inside the runtime.
double time_run(bench::instance& instance, bench::runner runner);

/// Sleeps until this process uses next to no processor time, at most about 60 ms.
void sleep_until_quiet();

}  // namespace filch::cli
