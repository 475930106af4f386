// filch validate: compares simulated with real runs on the machine at hand, for workloads whose scheduling no
// calibration has seen.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "error_line.hpp"
#include "estimate.hpp"
#include "machine_choice.hpp"
#include "native_bench.hpp"
#include "option_value.hpp"
#include "process_pool.hpp"
#include "simulated_run.hpp"
#include "text_table.hpp"
#include "vm_commands.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

namespace {

constexpr auto examples =
    R"(Compared are ratios to the serial run, at one and at two workers. Exit status 1: some differ by more than 20 %.

Examples:
  filch validate                                   with the machine file 'local', see 'filch calibrate'
  filch validate --machine machines/mine.json
)";

constexpr double tolerance = 0.20;
constexpr int seeds = 21;
constexpr std::array<int, 2> worker_counts_compared{1, 2};
// Short runs, many of them: some will find the machine undisturbed.
const std::vector<std::string> compared{"nqueens:11", "uts:geo/a3/d=9/b0=4/seed=19", "cilksort:1000000"};
constexpr auto real_runs = "61";

// Ratio to the serial run; the median over the seeds.
double simulated_ratio(const vm::machine_description& machine, const workload_choice& choice, int workers,
                       progress_line& progress) {
  const std::unique_ptr<bench::instance> instance = choice.make();
  instance->prepare();
  const configuration config =
      resolved(machine, {.runner = bench::runner::filch, .workers = workers, .policy = {}, .join = {}});
  std::vector<run_outcome> outcomes(1 + (workers == 1 ? 1 : seeds));
  run_in_processes(
      outcomes, 2,
      [&](std::size_t i) {
        return run_simulated(machine, i, i == 0 ? configuration{.runner = bench::runner::serial} : config, *instance);
      },
      progress);
  std::vector<double> ratios;
  for (const run_outcome& outcome : outcomes) {
    if (outcome.error.front() != '\0' || !outcome.is_right) {
      throw std::runtime_error(
          fmt::format("{}: {}", choice.label(), outcome.error.front() != '\0' ? outcome.error.data() : "wrong result"));
    }
    ratios.push_back(outcome.seconds / outcomes.front().seconds);
  }
  ratios.erase(ratios.begin());
  return median(ratios);
}

// Of all runs the fastest: whatever else the machine is busy with makes runs slower, never faster.
double fastest_s(const nlohmann::json& report, const workload_choice& choice, const std::string& runner, int workers) {
  return row_of(report, choice.label(), runner, workers).at("seconds_min").get<double>();
}

// A machine file may come from elsewhere; then the comparison says nothing.
void warn_of_another_machine(const vm::machine_description& machine, const nlohmann::json& real) {
  const auto model = real.at("machine").at("model").get<std::string>();
  const auto about = machine.about.find("machine");
  if (about != machine.about.end() && about->second.find(model) != std::string::npos) return;
  print_error(fmt::format("machine file '{}' describes another machine than this '{}'; run 'filch calibrate' first",
                          machine.name, model));
}

int run_validate(const CLI::App& app) {
  const vm::machine_description machine = choose_machine(value_of(app, "--machine").value_or("local"));
  if (machine.hardware_threads() < worker_counts_compared.back()) {
    throw std::invalid_argument(
        fmt::format("machine '{}' has one core; the comparison is of one and of two workers", machine.name));
  }
  std::vector<std::string> arguments = compared;
  arguments.insert(arguments.end(), {"--peer", "serial", "--repeat", real_runs, "--workers",
                                     fmt::format("{}", fmt::join(worker_counts_compared, ","))});
  const nlohmann::json real = native_bench(arguments);
  warn_of_another_machine(machine, real);

  using enum text_table::align;
  text_table table(
      {{"workload", left}, {"workers", right}, {"real", right}, {"simulated", right}, {"difference", right}});
  bool is_close = true;
  progress_line progress;
  for (const std::string& name : compared) {
    const workload_choice choice = choose_workload(name);
    for (const int workers : worker_counts_compared) {
      const double real_ratio = fastest_s(real, choice, "filch", workers) / fastest_s(real, choice, "serial", 1);
      const double ratio = simulated_ratio(machine, choice, workers, progress);
      const double difference = ratio / real_ratio - 1;
      is_close = is_close && std::abs(difference) <= tolerance;
      table.add_row({choice.label(), std::to_string(workers), fmt::format("{:.3f}", real_ratio),
                     fmt::format("{:.3f}", ratio), fmt::format("{:+.1f} %", difference * 100)});
    }
  }
  fmt::print("Time over that of the serial run, real (fastest of {}) and on machine '{}'{}\n\n{}", real_runs,
             machine.name, machine.calibrated ? "" : " (not calibrated: run 'filch calibrate')", table.to_string());
  if (!is_close) print_error(fmt::format("simulated and real runs differ by more than {:.0f} %", tolerance * 100));
  return is_close ? exit_success : exit_failure;
}

}  // namespace

command add_validate_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("validate", "Compare simulated with real runs on this machine");
  app->add_option("--machine", "Machine file of this machine, by name or path (default: local)")
      ->type_name("NAME|FILE")
      ->type_size(1)
      ->take_all();
  app->footer(examples);
  return {app, [app] { return run_validate(*app); }};
}

}  // namespace filch::cli
