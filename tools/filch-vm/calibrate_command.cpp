// filch calibrate: measures the machine at hand and writes its machine file.
//
// Scheduling is calibrated on fib alone: what a fork and its join cost on one worker. Of the other workloads only
// serial runs are measured, for the prices of their work; how they behave in parallel is left for 'filch validate' to
// check.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filch/vm/simulation.hpp>

#include "json_text.hpp"
#include "native_bench.hpp"
#include "option_value.hpp"
#include "output_file.hpp"
#include "processor_probes.hpp"
#include "progress_line.hpp"
#include "vm_commands.hpp"

namespace filch::cli {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using platform::vm::by_distance;

constexpr auto examples =
    R"(Takes about a minute. Let the machine rest meanwhile.

Examples:
  filch calibrate --out machines/local.json
  filch simulate nqueens --machine machines/local.json --workers 1,2
)";

constexpr auto fib = "fib_noinline:32";

double tasks_of(const json& row) { return row.at("tasks").get<double>(); }

// "4130071 nodes, ...": what a workload did, where its tasks are something else.
double units_of(const json& row) { return std::stod(row.at("result").get<std::string>()); }

// n log2(n): the steps of sorting.
double steps_of_sorting(double n) { return n * std::log2(n); }

/// A unit of work: its price is the time of a serial run, divided by the units in it.
struct unit_of_work {
  const char* name;
  const char* workload;  ///< of a size whose data fits into a private cache, where there is much of it
  double (*units)(const json& row);
};
constexpr std::array units_of_work{
    unit_of_work{"fib_call", fib, &tasks_of},
    unit_of_work{"nqueens_check", "nqueens:10", [](const json& row) { return 10 * tasks_of(row); }},
    unit_of_work{"uts_geometric_node", "uts:T1", &units_of},
    unit_of_work{"uts_node", "uts:T3", &units_of},
    unit_of_work{"matmul_madd", "matmul:512", [](const json& /*row*/) { return std::pow(512, 3); }},
    unit_of_work{"cilksort_compare", "cilksort:1000000", [](const json& /*row*/) { return steps_of_sorting(1e6); }},
    unit_of_work{"tsp_step", "tsp:14", &tasks_of},
    unit_of_work{"spmv_nonzero", "spmv_rows:1000", &units_of},
    unit_of_work{"bfs_edge", "bfs:8000", &units_of},
    unit_of_work{"floyd_warshall_cell", "floyd_warshall:256", &tasks_of},
    unit_of_work{"mm_madd", "mm:128", [](const json& /*row*/) { return std::pow(128, 3); }},
    unit_of_work{"conv_madd", "conv:256", [](const json& row) { return tasks_of(row) * 16 * 16; }},
    unit_of_work{"spin_step", "thick_first:65536", &units_of},
    unit_of_work{"matching_try", "matching:rlg/20000", &units_of},
    unit_of_work{"mis_edge", "mis:rlg/20000", &units_of},
    unit_of_work{"hull_point", "hull:uniform/20000", &units_of},
    // Blocks and buckets of 2 sqrt(n) numbers are sorted, each number twice.
    unit_of_work{"samplesort_compare", "samplesort:random/50000",
                 [](const json& /*row*/) { return 2 * 50'000 * std::log2(2 * std::sqrt(50'000)); }},
    unit_of_work{"dfs_edge", "dfs:rlg/20000", &units_of},
    unit_of_work{"heat_cell", "heat2d:64/iterations=2005", [](const json& /*row*/) { return 2000.0 * 64 * 64; }},
    unit_of_work{"sgemm_madd", "matmul_groups:128", [](const json& /*row*/) { return std::pow(128, 3); }},
    unit_of_work{"sph_pair", "sph:2d/8000", &units_of},
};

// The fastest: what disturbs the machine makes runs slower, never faster.
double least_ns(const json& row) { return row.at("seconds_min").get<double>() * 1e9; }

void measure_work(vm::machine_description& machine) {
  std::vector<std::string> arguments;
  arguments.reserve(units_of_work.size());
  for (const unit_of_work& each : units_of_work) arguments.emplace_back(each.workload);
  for (const char* option : {"--policy", "lace", "--workers", "1", "--peer", "serial", "--repeat", "15"}) {
    arguments.emplace_back(option);
  }
  const json report = native_bench(arguments);
  for (const unit_of_work& each : units_of_work) {
    const json& row = row_of(report, each.workload, "serial", 1);
    machine.work[each.name] = least_ns(row) / each.units(row);
  }
  const json& forked = row_of(report, fib, "filch", 1);
  machine.runtime.spawn_ns = std::max(0.0, least_ns(forked) / tasks_of(forked) - machine.work["fib_call"]);
}

void measure_lines(vm::machine_description& machine) {
  auto& lines = machine.lines;
  lines.hit_ns = hit_ns();
  lines.atomic_extra_ns = std::max(0.0, atomic_ns() - lines.hit_ns);
  // A hand-over is a store that takes the line from its reader and a load that gets it back.
  const double half_ns = hand_over_ns() / 2;
  lines.load_owned = lines.load_shared = lines.store_owned = lines.store_shared = by_distance{half_ns, half_ns};
}

void measure_memory(vm::machine_description& machine) {
  constexpr std::size_t likely_private = std::size_t{1} << 20;
  constexpr std::size_t likely_shared = std::size_t{32} << 20;
  const std::size_t private_bytes = private_cache_bytes() > 0 ? private_cache_bytes() : likely_private;
  const std::size_t shared_bytes = shared_cache_bytes() > 0 ? shared_cache_bytes() : likely_shared;
  machine.memory.local_ns = machine.memory.remote_ns = memory_load_ns();
  auto& data = machine.data;
  data.private_bytes = static_cast<std::int64_t>(private_bytes);
  data.shared_bytes = static_cast<std::int64_t>(shared_bytes);
  data.shared_cache = platform::vm::shared_cache_kind::inclusive;  // nothing tells
  data.numa = platform::vm::numa_policy::first_touch;
  data.private_line_ns = streaming_line_ns(private_bytes / 2);
  // Of the shared cache others may have a part: not more of it than twice the private ones.
  data.shared_line_ns = streaming_line_ns(std::min(shared_bytes / 2, private_bytes * 4));
  constexpr std::size_t far_beyond_caches = std::size_t{512} << 20;
  data.local_memory_line_ns = streaming_line_ns(far_beyond_caches);
  // What is farther is not faster, whatever disturbed the measurement.
  data.shared_line_ns = std::max(data.shared_line_ns, data.private_line_ns);
  data.local_memory_line_ns = std::max(data.local_memory_line_ns, data.shared_line_ns);
  data.remote_memory_line_ns = data.local_memory_line_ns;
  data.memory_interval_ns = std::min(streaming_line_of_two_ns(far_beyond_caches / 2), data.local_memory_line_ns);
}

void measure_system(vm::machine_description& machine) {
  const futex_costs sleeping = measure_futex();
  const signal_costs signals = measure_signal();
  machine.system = {.pause_ns = pause_ns(),
                    .park_ns = sleeping.park_ns,
                    .wake_call_ns = sleeping.wake_call_ns,
                    .wake_latency_ns = sleeping.wake_latency_ns,
                    .signal_call_ns = signals.call_ns,
                    .signal_latency_ns = signals.latency_ns};
}

// Three significant digits are more than these figures are good for.
double rounded(double ns) { return ns == 0 ? 0 : std::stod(fmt::format("{:.3g}", ns)); }

ordered_json distances_json(const by_distance& of) {
  return {{"same_socket_ns", rounded(of.same_socket_ns)}, {"other_socket_ns", rounded(of.other_socket_ns)}};
}

ordered_json prices_json(const platform::vm::work_prices& work) {
  ordered_json prices;
  for (const auto& [name, ns] : work) prices[name + "_ns"] = rounded(ns);
  return prices;
}

ordered_json to_machine_file(const vm::machine_description& m, const std::string& model) {
  std::vector<std::string_view> workloads;
  std::ranges::transform(units_of_work, std::back_inserter(workloads), &unit_of_work::workload);
  const auto& [hit, load_owned, load_shared, store_owned, store_shared, atomic_extra] = m.lines;
  return {
      {"about",
       {{"machine", "the machine at hand: " + model},
        {"model",
         "Written by 'filch calibrate'. One socket: the figures for others are never used and repeat these."}}},
      {"calibrated", true},
      {"shape",
       {{"sockets", 1},
        {"cores_per_socket", m.cores_per_socket},
        {"threads_per_core", 1},
        {"core_throughput", 1},
        {"clock_ghz", m.clock_ghz}}},
      {"lines",
       {{"hit_ns", rounded(hit)},
        {"load_owned", distances_json(load_owned)},
        {"load_shared", distances_json(load_shared)},
        {"store_owned", distances_json(store_owned)},
        {"store_shared", distances_json(store_shared)},
        {"atomic_extra_ns", rounded(atomic_extra)}}},
      {"memory", {{"local_ns", rounded(m.memory.local_ns)}, {"remote_ns", rounded(m.memory.remote_ns)}}},
      {"data",
       {{"private_bytes", m.data.private_bytes},
        {"shared_bytes", m.data.shared_bytes},
        {"shared_cache", "inclusive"},
        {"numa", "first_touch"},
        {"private_line_ns", rounded(m.data.private_line_ns)},
        {"shared_line_ns", rounded(m.data.shared_line_ns)},
        {"local_memory_line_ns", rounded(m.data.local_memory_line_ns)},
        {"remote_memory_line_ns", rounded(m.data.remote_memory_line_ns)},
        {"memory_interval_ns", rounded(m.data.memory_interval_ns)}}},
      {"system",
       {{"pause_ns", rounded(m.system.pause_ns)},
        {"park_ns", rounded(m.system.park_ns)},
        {"wake_call_ns", rounded(m.system.wake_call_ns)},
        {"wake_latency_ns", rounded(m.system.wake_latency_ns)},
        {"signal_call_ns", rounded(m.system.signal_call_ns)},
        {"signal_latency_ns", rounded(m.system.signal_latency_ns)}}},
      {"runtime", {{"spawn_ns", rounded(m.runtime.spawn_ns)}}},
      {"work", prices_json(m.work)},
      {"sources",
       {{"shape", "processors that this process may use, taken for cores of one socket; clock: 4 cycles for a hit."},
        {"lines",
         "measured: a chain of loads in the first cache; a loop of atomic additions; half of the time in which one "
         "processor hands a line to another, for each of the four kinds of transfer."},
        {"memory", "measured: a random chain of loads through 256 MiB."},
        {"data",
         "measured: one processor summing up arrays that fit into half of a cache, or into none; for the "
         "interval two processors at once. Sizes: as the system says."},
        {"system",
         "measured: futex and signal between two processors, each asleep for 300 us before; sleeping: half "
         "of a hand-over between two threads on one processor, and the binding that filch's workers do."},
        {"runtime", fmt::format("measured: '{}' on one worker, policy lace, less the serial run, per task.", fib)},
        {"work", fmt::format("measured: serial runs of {}, divided by their units.", fmt::join(workloads, ", "))}}}};
}

int run_calibrate(const CLI::App& app) {
  const auto path = value_of(app, "--out");
  if (!path)
    throw std::invalid_argument("--out is missing; name the machine file to write, such as machines/local.json");
  const output_file out(*path);
  if (usable_processors() < 2) {
    throw std::runtime_error(
        "calibration needs two processors, to measure what goes on between them; this process may use one");
  }
  progress_line progress;
  vm::machine_description machine{};
  machine.cores_per_socket = usable_processors();
  const json topology = native_bench({"fib:15", "--workers", "1", "--repeat", "1"}).at("machine");
  progress.show("cache lines");
  measure_lines(machine);
  progress.show("memory");
  measure_memory(machine);
  progress.show("sleeping and waking");
  measure_system(machine);
  progress.show("workloads");
  measure_work(machine);
  progress.clear();
  // For people only: a load out of the first cache takes 4 or 5 cycles.
  machine.clock_ghz = std::stod(fmt::format("{:.2g}", 4.0 / machine.lines.hit_ns));
  out.write(json_text(to_machine_file(machine, topology.at("model").get<std::string>())));
  return exit_success;
}

}  // namespace

command add_calibrate_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("calibrate", "Measure this machine and write its machine file");
  app->add_option("--out", "The machine file to write; - is standard output")
      ->type_name("FILE")
      ->type_size(1)
      ->take_all();
  app->footer(examples);
  return {app, [app] { return run_calibrate(*app); }};
}

}  // namespace filch::cli
