#include "simulated_rows.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "counters.hpp"
#include "error_line.hpp"
#include "option_value.hpp"
#include "process_pool.hpp"
#include "sampler.hpp"
#include "simulated_run.hpp"
#include "transfer_bound.hpp"

namespace filch::cli {

namespace {

constexpr int most_processes = 1024;

// One process of the simulation.
struct job {
  const vm::machine_description* machine;
  const configuration* config;
  std::uint64_t seed;
};

// The runs that make one row.
struct row_of_runs {
  configuration config;
  double communication_factor;
  std::size_t first_job;
  std::size_t jobs;
  std::size_t serial_job;
  std::optional<std::size_t> analysis_job;
};

// All runs of one workload and what they are for.
class experiment {
 public:
  experiment(const simulation_request& request, const workload_choice& choice);

  // As simulate.
  bool run(std::vector<result_row>& rows);

 private:
  void add_row(const configuration& config, double factor, const vm::machine_description& machine, int seeds);
  samples samples_of(const row_of_runs& row) const;
  std::optional<computation_bound> bound_of(const row_of_runs& row, const std::optional<statistics>& counted) const;
  bool report_error(const row_of_runs& row) const;
  bool report_error(std::size_t job) const;

  const simulation_request& request_;
  const workload_choice& choice_;
  std::vector<vm::machine_description> machines_;  // by communication factor
  std::vector<row_of_runs> rows_;
  std::vector<job> jobs_;
  std::vector<run_outcome> outcomes_;
  std::size_t serial_job_ = 0;
  std::optional<std::size_t> analysis_job_;
  const configuration analysis_{.runner = bench::runner::analysed};
};

experiment::experiment(const simulation_request& request, const workload_choice& choice)
    : request_(request), choice_(choice) {
  const std::size_t factors = request.communication_factors.size();
  machines_.reserve(2 * factors);                                // jobs refer to them
  rows_.reserve(factors * (request.configurations.size() + 1));  // and to these
  for (const double factor : request.communication_factors) {
    machines_.push_back(vm::scaled(request.machine, factor));
    if (request.bounds) {
      analysis_job_ = jobs_.size();
      jobs_.push_back({&machines_.back(), &analysis_, request.first_seed});
    }
    serial_job_ = jobs_.size();
    const vm::machine_description& machine = machines_.back();
    vm::machine_description& of_serial = machines_.emplace_back(machine);
    of_serial.data.numa = request.serial_numa.value_or(machine.data.numa);
    add_row({.runner = bench::runner::serial}, factor, of_serial, 1);
    for (const configuration& config : request.configurations) {
      // Chance chooses victims, and a single worker has none: its runs would all be the same.
      add_row(config, factor, machine, config.workers == 1 ? 1 : request.seeds);
    }
  }
  outcomes_.resize(jobs_.size());
}

void experiment::add_row(const configuration& config, double factor, const vm::machine_description& machine,
                         int seeds) {
  rows_.push_back({config, factor, jobs_.size(), static_cast<std::size_t>(seeds), serial_job_, analysis_job_});
  for (int i = 0; i < seeds; ++i) {
    jobs_.push_back({&machine, &rows_.back().config, request_.first_seed + static_cast<std::uint64_t>(i)});
  }
}

bool experiment::run(std::vector<result_row>& rows) {
  const std::unique_ptr<bench::instance> instance = choice_.make();
  instance->prepare();
  const std::uint64_t tasks = instance->tasks();
  progress_line progress;
  run_in_processes(
      outcomes_, request_.processes,
      [&](std::size_t i) { return run_simulated(*jobs_[i].machine, jobs_[i].seed, *jobs_[i].config, *instance); },
      progress);
  bool is_right = true;
  for (const row_of_runs& row : rows_) {
    if (report_error(row)) {
      is_right = false;
      continue;
    }
    rows.push_back(make_result_row(choice_, tasks, row.config, samples_of(row)));
    rows.back().simulated = simulated_on{request_.machine.name, std::string{name_of(request_.machine.data.numa)},
                                         row.communication_factor, bound_of(row, rows.back().counters)};
  }
  return is_right;
}

samples experiment::samples_of(const row_of_runs& row) const {
  samples taken;
  for (std::size_t i = row.first_job; i < row.first_job + row.jobs; ++i) {
    const run_outcome& outcome = outcomes_[i];
    taken.seconds.push_back(outcome.seconds);
    taken.ratios.push_back(outcome.seconds / outcomes_[row.serial_job].seconds);
    taken.result = outcome.result.data();
    if (outcome.is_filch) {
      add_difference(taken.counters ? *taken.counters : taken.counters.emplace(), {}, outcome.counters);
    }
  }
  return taken;
}

std::optional<computation_bound> experiment::bound_of(const row_of_runs& row,
                                                      const std::optional<statistics>& counted) const {
  if (!row.analysis_job) {
    return std::nullopt;
  }
  const bench::computation& of = outcomes_[*row.analysis_job].computation;
  computation_bound bounded{.work_s = of.work_s, .span_s = of.span_s, .branching_depth = of.branching_depth};
  const std::optional<double> constant = transfer_constant(row.config.policy);
  if (!constant || !counted) {
    return bounded;
  }
  bounded.delay_s = transfer_delay_s(*counted);
  if (bounded.delay_s) {
    const double step_s = transfer_step_s(*jobs_[row.first_job].machine, row.config.workers);
    bounded.bound_s = transfer_bound_s(of, row.config.workers, *bounded.delay_s, step_s, *constant);
  }
  return bounded;
}

bool experiment::report_error(const row_of_runs& row) const {
  if (row.analysis_job && report_error(*row.analysis_job)) {
    return true;
  }
  for (std::size_t i = row.first_job; i < row.first_job + row.jobs; ++i) {
    if (report_error(i)) {
      return true;
    }
  }
  return false;
}

bool experiment::report_error(std::size_t job) const {
  const run_outcome& outcome = outcomes_[job];
  const bool has_error = outcome.error.front() != '\0';
  if (!has_error && outcome.is_right) {
    return false;
  }
  const std::string what = has_error ? outcome.error.data() : fmt::format("wrong result '{}'", outcome.result.data());
  print_error(fmt::format("{}: {} (simulated {}, seed {})", choice_.label(), what, describe(*jobs_[job].config),
                          jobs_[job].seed));
  return true;
}

}  // namespace

std::size_t processes_of(const CLI::App& command) {
  const auto text = value_of(command, "--processes");
  return text ? static_cast<std::size_t>(parse_integer("--processes", *text, 1, most_processes))
              : std::max(1U, std::thread::hardware_concurrency());
}

vm::numa_policy numa_of(std::string_view what, const std::string& name) {
  constexpr auto known = platform::vm::numa_policy_names;
  require_known(what, name, known, fmt::format("pages of data are placed by {}", fmt::join(known, " or ")));
  return static_cast<vm::numa_policy>(std::ranges::find(known, name) - known.begin());
}

void require_workers(const vm::machine_description& machine, const std::vector<configuration>& configurations) {
  for (const configuration& config : configurations) {
    if (config.workers > machine.hardware_threads()) {
      throw std::invalid_argument(fmt::format(
          "--workers '{}' is more than machine '{}' has: {} sockets of {} cores with {} hardware thread{} each make "
          "{}; "
          "give at most that, or a larger machine such as {}x{}",
          config.workers, machine.name, machine.sockets, machine.cores_per_socket, machine.threads_per_core,
          machine.threads_per_core == 1 ? "" : "s", machine.hardware_threads(),
          (config.workers + machine.cores_per_socket - 1) / machine.cores_per_socket, machine.cores_per_socket));
    }
  }
}

bool simulate(const simulation_request& request, const workload_choice& choice, std::vector<result_row>& rows) {
  return experiment(request, choice).run(rows);
}

}  // namespace filch::cli
