// filch bench: measures workloads under every combination of settings that was asked for.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
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
#include "place_session.hpp"
#include "places_bench.hpp"
#include "places_configuration.hpp"
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
FILCH_DEAL_INTERVAL_NS, FILCH_LEVEL_ATTEMPTS, FILCH_SPIN_NS, FILCH_INTERRUPT_AFTER_NS, FILCH_INTERRUPT_EVERY_NS,
FILCH_PINNING, FILCH_PLACES_POLICY, FILCH_PLACES_COMMUNICATION and FILCH_PLACES_SHIPMENT hold where an option is left
out.

Workloads of places (uts_places, nqueens_places, stencil_places) run at one place, or at those that mpirun starts. Times
are those of the slowest place, and are compared with no serial run. --policy, --join, --loop and --workers are those of
each place. --peer mpi hands out their tasks from process 0, which runs none unless it is alone.

Examples:
  filch bench                                      every workload at its default size
  filch bench fib:38 nqueens --workers 1,2         two workloads, at one and at two workers
  filch bench dfs:file/PATH                        a graph from a file ('filch list' shows the forms)
  filch bench uts:T3 --peer serial,tbb,openmp      side by side with other runtimes
  filch bench spmv --peer tbb,tbb-simple,tbb-static   loops, as oneTBB's partitioners split them
  filch bench fib --policy lace,chase_lev --join leapfrog,transitive,random --json fib.json
  filch bench loops:20ns --policy lace --loop standard,lazy_breadth,auto,dynamic
  filch bench uts_places:T1L --places-policy baseline,success_only,lifeline --workers 1
  mpirun -n 4 filch bench nqueens_places --workers 1 --peer mpi
)";

// Everything that takes part: `others` in the order of the report.
struct contestants {
  std::unique_ptr<executor> serial = make_serial_executor();
  bool is_serial_reported = false;
  std::vector<std::unique_ptr<executor>> others{};
};

std::vector<bench::runner> peers_of(const CLI::App& app) {
  const std::optional<std::string> text = value_of(app, "--peer");
  return text ? peer_runners(*text) : std::vector<bench::runner>{};
}

contestants make_contestants(const CLI::App& app) {
  const filch_settings settings = settings_of(app);
  const std::vector<configuration> configurations = filch_configurations(settings);
  const std::vector<bench::runner> runners = peers_of(app);

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
    if (runner == bench::runner::mpi) continue;  // of workloads of places
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

// Throws std::invalid_argument.
void require_runs(bench::runner peer, const std::vector<workload_choice>& choices) {
  for (const workload_choice& choice : choices) {
    const bool does = peer == bench::runner::mpi ? choice.workload->has_farm : !choice.has_places();
    if (does) continue;
    throw std::invalid_argument(fmt::format("--peer '{}' does not run workload '{}'; leave one of them out",
                                            runner_name(peer), choice.workload->name));
  }
}

// With the peer of places, if that was asked for and runs the workload.
std::vector<places_configuration> with_peer(const CLI::App& app, const workload_choice& choice,
                                            std::vector<places_configuration> configurations) {
  const std::vector<bench::runner> peers = peers_of(app);
  if (std::ranges::find(peers, bench::runner::mpi) != peers.end() && choice.workload->has_farm) {
    configurations.push_back({.scheduler = {.runner = bench::runner::mpi}});
  }
  return configurations;
}

// Throws std::invalid_argument for what goes with one kind of workloads only, and is given for another.
void require_sense(const CLI::App& app, const std::vector<workload_choice>& choices, const place_session* places) {
  const auto needs_places = std::ranges::find_if(choices, &workload_choice::has_places);
  const auto needs_none = std::ranges::find_if_not(choices, &workload_choice::has_places);
  if (const auto option = given_places_option(app); option && needs_places == choices.end()) {
    throw std::invalid_argument(
        fmt::format("{} '{}' goes with workloads of places only; name one, such as uts_places:T1", *option,
                    *value_of(app, *option)));
  }
  const bool is_named = app.get_option("workload")->count() != 0;
  if (is_named) {
    for (const bench::runner peer : peers_of(app)) require_runs(peer, choices);
  }
  if (places != nullptr && places->places() > 1 && needs_none != choices.end()) {
    throw std::invalid_argument(fmt::format(
        "workload '{}' runs at one place, and there are {}; name workloads of places, such as uts_places, or "
        "start without mpirun",
        needs_none->workload->name, places->places()));
  }
}

int run_bench(const CLI::App& app) {
  sampling_options options;
  if (const auto repeat = value_of(app, "--repeat")) {
    options.rounds = parse_integer("--repeat", *repeat, 1, most_rounds);
  }
  const std::vector<workload_choice> choices = choose_workloads(app.get_option("workload")->results());
  const std::vector<places_configuration> between = places_configurations(app, filch_configurations(settings_of(app)));
  std::unique_ptr<place_session> places;
  if (std::ranges::any_of(choices, &workload_choice::has_places)) {
    places = open_place_session();
  }
  require_sense(app, choices, places.get());
  std::optional<output_file> json;
  const auto open_json = [&] {
    if (const auto path = value_of(app, "--json")) json.emplace(*path);
  };
  places ? at_first_place(*places, open_json) : open_json();
  const bench::deep_stacks deep;  // before any thread is started
  std::optional<contestants> all;
  if (!std::ranges::all_of(choices, &workload_choice::has_places)) {
    all.emplace(make_contestants(app));
  }

  std::vector<result_row> rows;
  bool is_right = true;
  for (const workload_choice& choice : choices) {
    const bool is_this_right = choice.has_places()
                                   ? measure_at_places(choice, with_peer(app, choice, between), options, *places, rows)
                                   : measure(choice, *all, options, rows);
    is_right = is_right && is_this_right;
  }
  if (places && places->place() != 0) return is_right ? exit_success : exit_failure;

  const topology machine = discover_topology();
  if (json) is_right = json->try_write(to_json(machine, rows)) && is_right;
  fmt::print(json && json->is_stdout() ? stderr : stdout, "{}", to_table(machine, rows));
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
  add_places_options(*app);
  add_text(*app, "--workers", "Numbers of workers (default: all that this process may use)", "N,...");
  add_text(*app, "--peer",
           "Also report serial, tbb, tbb-simple, tbb-static, tbb-affinity, openmp, openmp-static, openmp-dynamic; for "
           "workloads of places: mpi, a master and workers, one thread each",
           "R,...");
  add_text(*app, "--repeat", "Counted runs of each (default: 5 to 21, as fits into about 10 s)", "R");
  add_text(*app, "--json", "Write the results to this file, too; - is standard output (the table then goes to stderr)",
           "FILE");
  app->footer(examples);
  return {app, [app] { return run_bench(*app); }};
}

}  // namespace filch::cli
