// filch calibrate: measures the machine at hand and writes its machine file.
//
// Scheduling is calibrated on fib alone: what a fork and its join cost on one worker. Of the other workloads only
// serial runs are measured, for the prices of their work; how they behave in parallel is left for 'filch validate' to
// check.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

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
constexpr auto nqueens = "nqueens:10";
constexpr auto uts_geometric = "uts:T1";
constexpr auto uts_binomial = "uts:T3";
constexpr auto matmul = "matmul:512";
constexpr auto cilksort = "cilksort:1000000";
constexpr auto tsp = "tsp:14";
// Of sizes whose data fits into a private cache.
constexpr auto spmv = "spmv_rows:1000";
constexpr auto bfs = "bfs:8000";
constexpr auto floyd_warshall = "floyd_warshall:256";
constexpr auto mm = "mm:128";
constexpr auto conv = "conv:256";
constexpr auto spin = "thick_first:65536";
constexpr auto matching = "matching:rlg/20000";
constexpr auto mis = "mis:rlg/20000";
constexpr auto hull = "hull:uniform/20000";
constexpr auto samplesort = "samplesort:random/50000";
constexpr auto dfs = "dfs:rlg/20000";

double serial_ns(const json& report, const std::string& workload) {
  // The fastest: what disturbs the machine makes runs slower, never faster.
  return row_of(report, workload, "serial", 1).at("seconds_min").get<double>() * 1e9;
}

double tasks_of(const json& report, const std::string& workload) {
  return row_of(report, workload, "serial", 1).at("tasks").get<double>();
}

// "4130071 nodes, ...": what a workload did, where its tasks are something else.
double units_of(const json& report, const std::string& workload) {
  return std::stod(row_of(report, workload, "serial", 1).at("result").get<std::string>());
}

void measure_loop_work(vm::machine_description& machine) {
  const json report = native_bench({tsp, spmv, bfs, floyd_warshall, mm, conv, spin, "--policy", "lace", "--workers",
                                    "1", "--peer", "serial", "--repeat", "15"});
  auto& work = machine.work;
  work.tsp_step_ns = serial_ns(report, tsp) / tasks_of(report, tsp);
  work.spmv_nonzero_ns = serial_ns(report, spmv) / units_of(report, spmv);
  work.bfs_edge_ns = serial_ns(report, bfs) / units_of(report, bfs);
  work.floyd_warshall_cell_ns = serial_ns(report, floyd_warshall) / tasks_of(report, floyd_warshall);
  work.mm_madd_ns = serial_ns(report, mm) / std::pow(128, 3);
  work.conv_madd_ns = serial_ns(report, conv) / (tasks_of(report, conv) * 16 * 16);
  work.spin_step_ns = serial_ns(report, spin) / units_of(report, spin);
}

void measure_graphs_and_sorting(vm::machine_description& machine) {
  const json report = native_bench({matching, mis, hull, samplesort, dfs, "--policy", "lace", "--workers", "1",
                                    "--peer", "serial", "--repeat", "15"});
  auto& work = machine.work;
  work.matching_try_ns = serial_ns(report, matching) / units_of(report, matching);
  work.mis_edge_ns = serial_ns(report, mis) / units_of(report, mis);
  work.hull_point_ns = serial_ns(report, hull) / units_of(report, hull);
  // Blocks and buckets of 2 sqrt(n) numbers are sorted, each number twice.
  constexpr double n = 50'000;
  work.samplesort_compare_ns = serial_ns(report, samplesort) / (2 * n * std::log2(2 * std::sqrt(n)));
  work.dfs_edge_ns = serial_ns(report, dfs) / units_of(report, dfs);
}

void measure_work(vm::machine_description& machine) {
  const json report = native_bench({fib, nqueens, uts_geometric, uts_binomial, matmul, cilksort, "--policy", "lace",
                                    "--workers", "1", "--peer", "serial", "--repeat", "15"});
  auto& work = machine.work;
  work.fib_call_ns = serial_ns(report, fib) / tasks_of(report, fib);
  const double forked_ns = row_of(report, fib, "filch", 1).at("seconds_min").get<double>() * 1e9;
  machine.runtime.spawn_ns = std::max(0.0, forked_ns / tasks_of(report, fib) - work.fib_call_ns);
  work.nqueens_check_ns = serial_ns(report, nqueens) / (10 * tasks_of(report, nqueens));
  work.uts_geometric_node_ns = serial_ns(report, uts_geometric) / units_of(report, uts_geometric);
  work.uts_node_ns = serial_ns(report, uts_binomial) / units_of(report, uts_binomial);
  work.matmul_madd_ns = serial_ns(report, matmul) / std::pow(512, 3);
  constexpr double n = 1'000'000;
  work.cilksort_compare_ns = serial_ns(report, cilksort) / (n * std::log2(n));
  work.heat_cell_ns = stencil_cell_ns();
  measure_loop_work(machine);
  measure_graphs_and_sorting(machine);
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

ordered_json to_machine_file(const vm::machine_description& m, const std::string& model) {
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
      {"work",
       {{"fib_call_ns", rounded(m.work.fib_call_ns)},
        {"nqueens_check_ns", rounded(m.work.nqueens_check_ns)},
        {"uts_node_ns", rounded(m.work.uts_node_ns)},
        {"uts_geometric_node_ns", rounded(m.work.uts_geometric_node_ns)},
        {"matmul_madd_ns", rounded(m.work.matmul_madd_ns)},
        {"cilksort_compare_ns", rounded(m.work.cilksort_compare_ns)},
        {"heat_cell_ns", rounded(m.work.heat_cell_ns)},
        {"tsp_step_ns", rounded(m.work.tsp_step_ns)},
        {"spmv_nonzero_ns", rounded(m.work.spmv_nonzero_ns)},
        {"bfs_edge_ns", rounded(m.work.bfs_edge_ns)},
        {"floyd_warshall_cell_ns", rounded(m.work.floyd_warshall_cell_ns)},
        {"mm_madd_ns", rounded(m.work.mm_madd_ns)},
        {"conv_madd_ns", rounded(m.work.conv_madd_ns)},
        {"spin_step_ns", rounded(m.work.spin_step_ns)},
        {"matching_try_ns", rounded(m.work.matching_try_ns)},
        {"mis_edge_ns", rounded(m.work.mis_edge_ns)},
        {"hull_point_ns", rounded(m.work.hull_point_ns)},
        {"samplesort_compare_ns", rounded(m.work.samplesort_compare_ns)},
        {"dfs_edge_ns", rounded(m.work.dfs_edge_ns)}}},
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
        {"work", fmt::format("measured: serial runs of {}, divided by their units; a stencil on 64 x 64 cells.",
                             fmt::join({fib, nqueens, uts_binomial, uts_geometric, matmul, cilksort, tsp, spmv, bfs,
                                        floyd_warshall, mm, conv, spin, matching, mis, hull, samplesort, dfs},
                                       ", "))}}}};
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
