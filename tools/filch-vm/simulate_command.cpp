// filch simulate: runs workloads on a virtual machine under every combination of settings that was asked for.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <filch/topology.hpp>

#include "counters.hpp"
#include "machine_folder.hpp"
#include "option_value.hpp"
#include "output_file.hpp"
#include "process_pool.hpp"
#include "report.hpp"
#include "simulated_run.hpp"
#include "vm_commands.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

namespace {

constexpr int default_seeds = 21;
constexpr int most_seeds = 100'000;
constexpr int most_processes = 1024;

constexpr auto examples =
    R"(Times are virtual. Workers share the cores of the machine, one each, in the order of its sockets. Every run is
verified; a wrong result makes the exit status 1. One run for each seed; medians over the seeds; ratios are to the
serial program on one core, with the 95 % interval of their median. The same command prints the same bytes.

Examples:
  filch simulate fib --machine 4x12                           on all 48 cores of a generic machine
  filch simulate uts --machine opteron-6168 --policy lace --join leapfrog,random --workers 1,16,48
  filch simulate uts:T3L --machine opteron-6168 --workers 48 --seeds 1
  filch simulate nqueens --machine machines/local.json --sensitivity --json nqueens.json
  filch simulate nqueens_loop --machine ultrasparc-t2 --policy lazy_breadth,lazy_depth,lazy_depth2 --workers 8,64
)";

struct simulate_request {
  vm::machine_description machine{};
  std::vector<configuration> configurations{};
  std::vector<double> communication_factors{1.0};
  std::uint64_t first_seed = 1;
  int seeds = default_seeds;
  std::size_t processes = 1;
};

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
};

// All runs of one workload and what they are for.
class experiment {
 public:
  experiment(const simulate_request& request, const workload_choice& choice);

  /// Appends the rows that came out right. False: there were others, too, each with a line on stderr.
  bool run(std::vector<result_row>& rows);

 private:
  void add_row(const configuration& config, double factor, const vm::machine_description& machine, int seeds);
  samples samples_of(const row_of_runs& row) const;
  bool report_error(const row_of_runs& row) const;

  const simulate_request& request_;
  const workload_choice& choice_;
  std::vector<vm::machine_description> machines_;  // by communication factor
  std::vector<row_of_runs> rows_;
  std::vector<job> jobs_;
  std::vector<run_outcome> outcomes_;
  std::size_t serial_job_ = 0;
};

experiment::experiment(const simulate_request& request, const workload_choice& choice)
    : request_(request), choice_(choice) {
  const std::size_t factors = request.communication_factors.size();
  machines_.reserve(factors);                                    // jobs refer to them
  rows_.reserve(factors * (request.configurations.size() + 1));  // and to these
  for (const double factor : request.communication_factors) {
    machines_.push_back(vm::scaled(request.machine, factor));
    serial_job_ = jobs_.size();
    add_row({.runner = bench::runner::serial}, factor, machines_.back(), 1);
    for (const configuration& config : request.configurations) {
      // Chance chooses victims, and a single worker has none: its runs would all be the same.
      add_row(config, factor, machines_.back(), config.workers == 1 ? 1 : request.seeds);
    }
  }
  outcomes_.resize(jobs_.size());
}

void experiment::add_row(const configuration& config, double factor, const vm::machine_description& machine,
                         int seeds) {
  rows_.push_back({config, factor, jobs_.size(), static_cast<std::size_t>(seeds), serial_job_});
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
    rows.back().simulated = simulated_on{request_.machine.name, row.communication_factor};
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

bool experiment::report_error(const row_of_runs& row) const {
  for (std::size_t i = row.first_job; i < row.first_job + row.jobs; ++i) {
    const run_outcome& outcome = outcomes_[i];
    const bool has_error = outcome.error.front() != '\0';
    if (has_error || !outcome.is_right) {
      const std::string what =
          has_error ? outcome.error.data() : fmt::format("wrong result '{}'", outcome.result.data());
      fmt::print(stderr, "filch: {}: {} (simulated {}, seed {})\n", choice_.label(), what, describe(row.config),
                 jobs_[i].seed);
      return true;
    }
  }
  return false;
}

// As many as the machine has, or an error that names it.
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

simulate_request read_request(const CLI::App& app) {
  simulate_request request;
  const auto machine = value_of(app, "--machine");
  if (!machine) {
    throw std::invalid_argument(
        "--machine is missing; give a name such as opteron-6168, a shape such as 4x12, or a file");
  }
  request.machine = vm::load_machine(*machine, machine_folder());
  const filch_settings settings{.policies = value_of(app, "--policy"),
                                .joins = value_of(app, "--join"),
                                .loops = value_of(app, "--loop"),
                                .workers = value_of(app, "--workers"),
                                .steal_half = is_set(app, "--steal-half"),
                                .push_half = is_set(app, "--push-half"),
                                .most = platform::vm::most_hardware_threads};
  const std::vector<configuration> open = filch_configurations(settings);
  require_workers(request.machine, open);
  std::ranges::transform(open, std::back_inserter(request.configurations),
                         [&](const configuration& each) { return resolved(request.machine, each); });
  if (is_set(app, "--sensitivity")) {
    request.communication_factors = {1.0, 0.7, 1.3};
  }
  if (const auto seed = value_of(app, "--seed")) {
    request.first_seed = static_cast<std::uint64_t>(parse_integer("--seed", *seed, 0, std::numeric_limits<int>::max()));
  }
  if (const auto seeds = value_of(app, "--seeds")) {
    request.seeds = parse_integer("--seeds", *seeds, 1, most_seeds);
  }
  request.processes = std::max(1U, std::thread::hardware_concurrency());
  if (const auto processes = value_of(app, "--processes")) {
    request.processes = static_cast<std::size_t>(parse_integer("--processes", *processes, 1, most_processes));
  }
  return request;
}

topology topology_of(const vm::machine_description& machine) {
  topology result;
  const auto model = machine.about.find("machine");
  result.model = model == machine.about.end() ? machine.name : model->second;
  result.source = "machine file";
  result.packages = machine.sockets;
  result.numa_nodes = machine.sockets;
  result.cores = machine.cores();
  result.usable_cpus = machine.hardware_threads();
  result.usable_workers = machine.hardware_threads();
  return result;
}

int run_simulate(const CLI::App& app) {
  std::optional<output_file> json;
  if (const auto path = value_of(app, "--json")) {
    json.emplace(*path);
  }
  const std::vector<std::string> texts = app.get_option("workload")->results();
  if (texts.empty()) {
    throw std::invalid_argument("no workload given; name one or more, such as fib or uts:T3 ('filch list' shows them)");
  }
  const std::vector<workload_choice> choices = choose_workloads(texts, &bench::workload::simulated_size);
  const simulate_request request = read_request(app);

  std::vector<result_row> rows;
  bool is_right = true;
  for (const workload_choice& choice : choices) {
    is_right = experiment(request, choice).run(rows) && is_right;
  }

  const topology machine = topology_of(request.machine);
  fmt::print(json && json->is_stdout() ? stderr : stdout, "{}", to_table(machine, rows));
  if (json) {
    json->write(to_json(machine, rows));
  }
  return is_right ? exit_success : exit_failure;
}

}  // namespace

command add_simulate_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("simulate", "Run workloads on a virtual machine with many cores");
  // Values are read from the parsed options when the command runs, see option_value.hpp.
  const auto add_text = [&](const std::string& name, const std::string& help, const std::string& type) {
    return app->add_option(name, help)->type_name(type)->type_size(1)->take_all();
  };
  add_text("workload", "Name, or name:size; the default sizes are smaller than those of 'filch bench'",
           "WORKLOAD[:SIZE]")
      ->allow_extra_args();
  add_text("--machine", "A machine file, by name or path, or SOCKETSxCORES of a generic machine", "NAME|SxC|FILE");
  add_text("--workers", "Numbers of workers (default: all hardware threads of the machine)", "N,...");
  add_text("--policy", "Work-stealing policies (default: standard)", "P,...");
  add_text("--join", "What to do at a join whose task was stolen (default: the policy's own)", "J,...");
  add_text("--loop", "How loops are split that do not say (default: the policy's own)", "L,...");
  app->add_flag("--steal-half")
      ->description("Thieves take half of what is on offer, not one task (policies lace and standard)");
  app->add_flag("--push-half")
      ->description("Half of all waiting tasks are offered where one would be (policies lazy_*)");
  add_text("--seed", "First seed (default: 1)", "S");
  add_text("--seeds", fmt::format("Number of seeds, and of runs of each row (default: {})", default_seeds), "N");
  app->add_flag("--sensitivity")->description("Also with communication 30 % faster and 30 % slower");
  add_text("--processes", "Simulations at a time; changes no result (default: one for each processor)", "N");
  add_text("--json", "Write the results to this file, too; - is standard output (the table then goes to stderr)",
           "FILE");
  app->footer(examples);
  return {app, [app] { return run_simulate(*app); }};
}

}  // namespace filch::cli
