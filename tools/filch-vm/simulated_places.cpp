#include "simulated_places.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <filch/places.hpp>
#include <filch/vm.hpp>

#include "error_line.hpp"
#include "places_counters.hpp"
#include "process_pool.hpp"
#include "progress_line.hpp"
#include "simulated_nodes.hpp"
#include "simulated_run.hpp"

namespace filch::cli {
namespace {

double larger_of(double a, double b) { return std::max(a, b); }

// Beside the workers: who looks at the network, and the sender's ticker.
constexpr int further_threads = 2;

/// One row, and its runs.
struct places_runs {
  places_configuration config;
  int places;
  double communication_factor;
  vm::machine_description machine;
  std::size_t first_job;
};

// What main of each place does; place 0, whose instance is `first`, stores the outcome.
void run_here(const workload_choice& choice, bench::instance& first, run_outcome& outcome) {
  const std::unique_ptr<bench::instance> own = places::here() == 0 ? nullptr : choice.make();
  bench::instance* const mine = own ? own.get() : &first;
  mine->prepare();
  mine->begin(bench::runner::filch);
  static_cast<void>(places::all_reduce(0, std::plus<>()));
  vm::charge(gather_ns);
  const places::counts before = places::counted();
  const double seconds = places::all_reduce(time_simulated(*mine, bench::runner::filch), larger_of);
  const places::counts all = places::all_reduce(difference_of(places::counted(), before), sum_of);
  if (places::here() != 0) return;
  outcome.seconds = seconds;
  outcome.counted = all;
  outcome.is_right = mine->verify();
  store_text(mine->result(), outcome.result);
}

run_outcome run_places(const places_runs& row, std::uint64_t seed, const workload_choice& choice,
                       bench::instance& first) {
  run_outcome outcome;
  outcome.is_filch = true;
  try {
    outcome.charged_ns = run_at_nodes(row.machine, seed, row.config.scheduler.workers + further_threads, row.places,
                                      options_of(row.config), [&] { run_here(choice, first, outcome); });
    outcome.charged_ns -= row.places * gather_ns;
  } catch (const std::exception& error) {
    store_text(message_of(error), outcome.error);
  }
  return outcome;
}

// False: the run has come out right.
bool report_error(const workload_choice& choice, const places_runs& row, std::uint64_t seed,
                  const run_outcome& outcome) {
  const bool has_error = outcome.error.front() != '\0';
  if (!has_error && outcome.is_right) return false;
  const std::string what = has_error ? outcome.error.data() : fmt::format("wrong result '{}'", outcome.result.data());
  print_error(
      fmt::format("{}: {} (simulated {}, seed {})", choice.label(), what, describe(row.config, row.places), seed));
  return true;
}

}  // namespace

bool simulate_places(const simulation_request& request, const places_request& places, const workload_choice& choice,
                     std::vector<result_row>& rows) {
  const auto seeds = static_cast<std::size_t>(request.seeds);
  std::vector<places_runs> all;
  for (const double factor : request.communication_factors) {
    for (const int count : places.places) {
      for (const places_configuration& config : places.configurations) {
        all.push_back({config, count, factor, vm::scaled(request.machine, factor), all.size() * seeds});
      }
    }
  }
  const auto seed_of = [&](std::size_t job) { return request.first_seed + job % seeds; };
  // What is expected may have to be found, once for all runs, which are copies of this process.
  const std::unique_ptr<bench::instance> first = choice.make();
  const std::uint64_t tasks = first->tasks();
  std::vector<run_outcome> outcomes(all.size() * seeds);
  progress_line progress;
  run_in_processes(
      outcomes, request.processes,
      [&](std::size_t job) { return run_places(all[job / seeds], seed_of(job), choice, *first); }, progress);

  bool is_right = true;
  for (const places_runs& row : all) {
    std::vector<double> seconds;
    places::counts counted{};
    worker_time time;
    bool is_row_right = true;
    for (std::size_t job = row.first_job; job < row.first_job + seeds && is_row_right; ++job) {
      is_row_right = !report_error(choice, row, seed_of(job), outcomes[job]);
      seconds.push_back(outcomes[job].seconds);
      counted = sum_of(counted, outcomes[job].counted);
      time.all_ns += 1e9 * outcomes[job].seconds * row.places * row.config.scheduler.workers;
      time.charged_ns += outcomes[job].charged_ns;
    }
    if (!is_row_right) {
      is_right = false;
      continue;
    }
    rows.push_back(make_places_row(choice, tasks, row.config, row.places, seconds,
                                   outcomes[row.first_job].result.data(), counted));
    rows.back().at->time = time;
    rows.back().simulated =
        simulated_on{request.machine.name, std::string{name_of(request.machine.data.numa)}, row.communication_factor};
  }
  return is_right;
}

}  // namespace filch::cli
