#include "simulated_run.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include <filch/scheduler.hpp>
#include <filch/vm.hpp>

#include "error_line.hpp"

namespace filch::cli {

namespace {

// One more than workers, for the sender's ticker. It never takes a worker's hardware thread: where that would be
// needed, the machine has no room for it.
int threads_of(const vm::machine_description& machine, int workers) {
  return std::min(workers + 1, machine.hardware_threads());
}

void require_room_for_ticker(const vm::machine_description& machine, const configuration& config) {
  if (config.interrupt_every_ns.value_or(0) == 0 || config.workers < machine.hardware_threads()) {
    return;
  }
  throw std::invalid_argument(
      fmt::format("--interrupt-every '{}' needs a hardware thread beside those of the workers, and machine '{}' has {} "
                  "for {} workers; give fewer workers, or a larger machine such as {}x{}",
                  *config.interrupt_every_ns, machine.name, machine.hardware_threads(), config.workers, machine.sockets,
                  machine.cores_per_socket + 1));
}

}  // namespace

double time_simulated(bench::instance& instance, bench::runner on) {
  const double begin_s = vm::now_s();
  instance.run(on);
  // Tiny sizes may be free, and times are divided by.
  return std::max(vm::now_s() - begin_s, 1e-12);
}

run_outcome run_simulated(const vm::machine_description& machine, std::uint64_t seed, const configuration& config,
                          bench::instance& instance) {
  run_outcome outcome;
  outcome.is_filch = config.runner == bench::runner::filch;
  try {
    vm::simulation simulated(machine, seed, threads_of(machine, config.workers));
    simulated.run([&] {
      instance.prepare();
      if (!outcome.is_filch) {
        instance.begin(config.runner);
        outcome.seconds = time_simulated(instance, config.runner);
        outcome.computation = bench::recorder.measured();
        return;
      }
      scheduler pool(options_of(config));
      pool.run([&] {
        instance.begin(bench::runner::filch);
        vm::charge(gather_ns);
        pool.reset_stats();
        outcome.seconds = time_simulated(instance, bench::runner::filch);
      });
      outcome.counters = pool.stats();
    });
    outcome.is_right = instance.verify();
    store_text(instance.result(), outcome.result);
  } catch (const std::exception& error) {
    store_text(message_of(error), outcome.error);
  }
  return outcome;
}

configuration resolved(const vm::machine_description& machine, configuration config) {
  if (config.runner != bench::runner::filch) {
    return config;
  }
  if (config.workers == 0) {
    config.workers = machine.hardware_threads();
  }
  require_room_for_ticker(machine, config);
  options chosen = options_of(config);
  chosen.workers = 1;
  vm::simulation simulated(machine, 1, 2);  // the worker and its ticker
  simulated.run([&] {
    const scheduler pool(chosen);
    fill_in(config, pool);
  });
  return config;
}

}  // namespace filch::cli
