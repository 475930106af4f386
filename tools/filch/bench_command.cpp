// filch bench: measures workloads under every combination of settings that was asked for.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <filch/topology.hpp>

#include "command.hpp"
#include "deep_stacks.hpp"
#include "error_line.hpp"
#include "executor.hpp"
#include "filch_options.hpp"
#include "option_value.hpp"
#include "output_file.hpp"
#include "progress_line.hpp"
#include "report.hpp"
#include "sampler.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

namespace {

constexpr int most_rounds = 100'000;

constexpr auto examples =
    R"(Every run is verified; a wrong result makes the exit status 1. Times are medians; ratios are medians of pairs with
a serial run close by, with their 95 % interval. FILCH_WORKERS, FILCH_POLICY, FILCH_JOIN, FILCH_LOOP,
FILCH_DEAL_INTERVAL_NS, FILCH_INTERRUPT_AFTER_NS, FILCH_INTERRUPT_EVERY_NS and FILCH_PINNING hold where an option is left
out.

Examples:
  filch bench                                      every workload at its default size
  filch bench fib:38 nqueens --workers 1,2         two workloads, at one and at two workers
  filch bench dfs:file/PATH                        a graph from a file ('filch list' shows the forms)
  filch bench uts:T3 --peer serial,tbb,openmp      side by side with other runtimes
  filch bench spmv --peer tbb,tbb-simple,tbb-static   loops, as oneTBB's partitioners split them
  filch bench fib --policy lace,chase_lev --join leapfrog,transitive,random --json fib.json
  filch bench loops:20ns --policy lace --loop standard,lazy_breadth,auto,dynamic
)";

// Everything that takes part: `others` in the order of the report.
struct contestants {
  std::unique_ptr<executor> serial = make_serial_executor();
  bool is_serial_reported = false;
  std::vector<std::unique_ptr<executor>> others{};
};

contestants make_contestants(const CLI::App& app) {
  const filch_settings settings = settings_of(app);
  const std::vector<configuration> configurations = filch_configurations(settings);
  const std::optional<std::string> peers = value_of(app, "--peer");
  const std::vector<bench::runner> runners = peers ? peer_runners(*peers) : std::vector<bench::runner>{};

  contestants result;
  for (const configuration& config : configurations) {
    result.others.push_back(make_executor(config));
  }
  // Peers do as filch does where the number of workers was left open.
  const std::vector<int> workers =
      settings.workers ? worker_counts(settings.workers) : std::vector{result.others.front()->config().workers};
  for (const bench::runner runner : runners) {
    if (runner == bench::runner::serial) {
      result.is_serial_reported = true;
      continue;
    }
    for (const int count : workers) {
      result.others.push_back(make_executor({.runner = runner, .workers = count}));
    }
  }
  return result;
}

// Appends the rows of one workload. A wrong run has no time worth reporting: it gets a line on stderr and no row.
bool measure(const workload_choice& choice, contestants& all, const sampling_options& options,
             std::vector<result_row>& rows) {
  const std::unique_ptr<bench::instance> instance = choice.make();
  std::vector<executor*> others;
  std::ranges::transform(all.others, std::back_inserter(others), &std::unique_ptr<executor>::get);
  sampler sampled(*instance, choice.label(), *all.serial, others);
  progress_line progress;
  sampled.take(options, progress);

  const std::uint64_t tasks = instance->tasks();
  const auto add_row = [&](const executor& who, const samples& taken) {
    if (!taken.is_wrong) {
      rows.push_back(make_result_row(choice, tasks, who.config(), taken));
    }
  };
  if (all.is_serial_reported) {
    add_row(*all.serial, sampled.serial());
  }
  for (std::size_t i = 0; i < all.others.size(); ++i) {
    add_row(*all.others[i], sampled.other(i));
  }
  for (const std::string& error : sampled.errors()) {
    print_error(error);
  }
  return sampled.errors().empty();
}

int run_bench(const CLI::App& app) {
  sampling_options options;
  if (const auto repeat = value_of(app, "--repeat")) {
    options.rounds = parse_integer("--repeat", *repeat, 1, most_rounds);
  }
  std::optional<output_file> json;
  if (const auto path = value_of(app, "--json")) {
    json.emplace(*path);
  }
  const std::vector<workload_choice> choices = choose_workloads(app.get_option("workload")->results());
  const bench::deep_stacks deep;  // before any thread is started
  contestants all = make_contestants(app);

  std::vector<result_row> rows;
  bool is_right = true;
  for (const workload_choice& choice : choices) {
    is_right = measure(choice, all, options, rows) && is_right;
  }

  const topology machine = discover_topology();
  fmt::print(json && json->is_stdout() ? stderr : stdout, "{}", to_table(machine, rows));
  if (json) {
    json->write(to_json(machine, rows));
  }
  return is_right ? exit_success : exit_failure;
}

}  // namespace

command add_bench_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("bench", "Measure workloads beside their serial runs and other runtimes");
  // Values are read from the parsed options when the command runs, see option_value.hpp.
  add_text(*app, "workload", "Name, or name:size, as in fib:38; none: all of them ('filch list' shows names and sizes)",
           "WORKLOAD[:SIZE]")
      ->allow_extra_args();
  add_filch_options(*app);
  add_text(*app, "--workers", "Numbers of workers (default: all that this process may use)", "N,...");
  add_text(*app, "--peer",
           "Also report serial, tbb, tbb-simple, tbb-static, tbb-affinity, openmp, openmp-static, openmp-dynamic",
           "R,...");
  add_text(*app, "--repeat", "Counted runs of each (default: 5 to 21, as fits into about 10 s)", "R");
  add_text(*app, "--json", "Write the results to this file, too; - is standard output (the table then goes to stderr)",
           "FILE");
  app->footer(examples);
  return {app, [app] { return run_bench(*app); }};
}

}  // namespace filch::cli
