// filch simulate: runs workloads on a virtual machine under every combination of settings that was asked for.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <filch/topology.hpp>

#include "error_line.hpp"
#include "filch_options.hpp"
#include "machine_choice.hpp"
#include "map_picture.hpp"
#include "option_value.hpp"
#include "output_file.hpp"
#include "places_configuration.hpp"
#include "report.hpp"
#include "simulated_nodes.hpp"
#include "simulated_places.hpp"
#include "simulated_rows.hpp"
#include "simulated_run.hpp"
#include "vm_commands.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

namespace {

constexpr int most_seeds = 100'000;
constexpr int most_places = 100'000;

constexpr auto examples =
    R"(Times are virtual. Workers share the cores of the machine, one each, in the order of its sockets unless --pinning says otherwise. Every run is
verified; a wrong result makes the exit status 1. One run for each seed; medians over the seeds; ratios are to the
serial program on one core, with the 95 % interval of their median. The same command prints the same bytes; variables FILCH_*
of the environment mean nothing to it.

Examples:
  filch simulate fib --machine 4x12                           on all 48 cores of a generic machine
  filch simulate uts --machine opteron-6168 --policy lace --join leapfrog,random --workers 1,16,48
  filch simulate uts:T3L --machine opteron-6168 --workers 48 --seeds 1
  filch simulate nqueens --machine machines/local.json --sensitivity --json nqueens.json
  filch simulate matmul --machine xeon-gold-6130 --pinning scatter --numa first_touch --workers 12,64
  filch simulate cilksort --machine xeon-x7550 --workers 30 --policy receiver,sender --bound
  filch simulate sph:2d/35888 --machine xeon-gold-6130 --policy lace,adws_nosteal,adws --seeds 1 --map figure1
  filch simulate nqueens_loop --machine ultrasparc-t2 --policy lazy_breadth,lazy_depth,lazy_depth2 --workers 8,64
  filch simulate uts_places --machine edison --places 1,16 --workers 23 --places-communication dedicated
)";

simulation_request read_request(const CLI::App& app) {
  simulation_request request;
  const auto machine = value_of(app, "--machine");
  if (!machine) {
    throw std::invalid_argument(
        "--machine is missing; give a name such as opteron-6168, a shape such as 4x12, or a file");
  }
  request.machine = choose_machine(*machine);
  if (const auto numa = value_of(app, "--numa")) {
    request.machine.data.numa = numa_of("--numa", *numa);
  }
  const std::vector<configuration> open = filch_configurations(settings_of(app, platform::vm::most_hardware_threads));
  require_workers(request.machine, open);
  std::ranges::transform(open, std::back_inserter(request.configurations),
                         [&](const configuration& each) { return resolved(request.machine, each); });
  if (is_set(app, "--sensitivity")) {
    request.communication_factors = sensitivity_factors;
  }
  if (const auto seed = value_of(app, "--seed")) {
    request.first_seed = static_cast<std::uint64_t>(parse_integer("--seed", *seed, 0, std::numeric_limits<int>::max()));
  }
  if (const auto seeds = value_of(app, "--seeds")) {
    request.seeds = parse_integer("--seeds", *seeds, 1, most_seeds);
  }
  request.processes = processes_of(app);
  request.bounds = is_set(app, "--bound");
  return request;
}

// A picture of one workload's schedules, drawn after its rows were measured.
class map_request {
 public:
  /// Throws std::invalid_argument when a file cannot be written or has another ending, and std::runtime_error when this
  /// program cannot draw.
  explicit map_request(const std::string& path) {
    if (path.ends_with(".svg")) {
      svg_.emplace(path);
    } else if (path.ends_with(".png")) {
      png_.emplace(path);
    } else if (const std::string name = std::filesystem::path(path).filename().string();
               !name.empty() && name.find('.') == std::string::npos) {
      svg_.emplace(path + ".svg");
      png_.emplace(path + ".png");
    } else {
      throw std::invalid_argument(
          fmt::format("--map '{}' is no picture's name; let it end with .svg or .png, or with neither for both", path));
    }
    const drawing can_draw(1, 1);
  }

  /// Runs the workload once more under each configuration, with the first seed. False: an error was printed.
  bool draw(const simulation_request& request, const workload_choice& choice) const {
    const std::unique_ptr<bench::instance> instance = choice.make();
    instance->record_map();
    std::vector<captioned_map> maps;
    for (const configuration& config : request.configurations) {
      const run_outcome outcome = run_simulated(request.machine, request.first_seed, config, *instance);
      if (outcome.error.front() != '\0') {
        print_error(fmt::format("{}: {}", choice.label(), outcome.error.data()));
        return false;
      }
      maps.push_back({describe(config), config.workers, instance->recorded_map()});
    }
    const std::unique_ptr<drawing> picture =
        draw_maps(fmt::format("{} on {}", choice.label(), request.machine.name), maps);
    const bool is_drawn = !svg_ || svg_->try_write(picture->to_svg());
    return (!png_ || png_->try_write(picture->to_png())) && is_drawn;
  }

 private:
  std::optional<output_file> svg_;
  std::optional<output_file> png_;
};

void require_one_map(const std::vector<workload_choice>& choices) {
  if (choices.size() != 1) {
    throw std::invalid_argument(
        fmt::format("--map draws one workload, and {} are given; name one, such as sph:2d/35888", choices.size()));
  }
  if (!choices.front().make()->record_map()) {
    throw std::invalid_argument(
        fmt::format("--map cannot draw '{}', which has no plane; name a workload that has one, such as sph:2d/35888",
                    choices.front().label()));
  }
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

// What workloads of places need in addition.
places_request read_places(const CLI::App& app, const simulation_request& request) {
  places_request places{.configurations = places_configurations(app, request.configurations)};
  if (const auto text = value_of(app, "--places")) {
    places.places.clear();
    for (const std::string& each : parse_list("--places", *text)) {
      places.places.push_back(parse_integer("--places", each, 1, most_places));
    }
  }
  std::ranges::for_each(places.places, [&](int each) { require_nodes(request.machine, each); });
  return places;
}

// Throws std::invalid_argument for what goes with one kind of workloads only, and is given for another.
void require_sense(const CLI::App& app, const std::vector<workload_choice>& choices) {
  const auto with_places = std::ranges::find_if(choices, &workload_choice::has_places);
  const auto option = value_of(app, "--places") ? "--places" : given_places_option(app);
  if (option && with_places == choices.end()) {
    throw std::invalid_argument(fmt::format("{} '{}' goes with workloads of places only; name one, such as uts_places",
                                            *option, *value_of(app, *option)));
  }
  if (is_set(app, "--bound") && with_places != choices.end()) {
    throw std::invalid_argument(
        fmt::format("--bound does not go with workload '{}'; leave one of them out", with_places->workload->name));
  }
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
  std::optional<map_request> map;
  if (const auto path = value_of(app, "--map")) {
    require_one_map(choices);
    map.emplace(*path);
  }
  require_sense(app, choices);
  const simulation_request request = read_request(app);
  const places_request places = read_places(app, request);

  std::vector<result_row> rows;
  bool is_right = true;
  for (const workload_choice& choice : choices) {
    const bool is_this_right =
        choice.has_places() ? simulate_places(request, places, choice, rows) : simulate(request, choice, rows);
    is_right = is_right && is_this_right;
  }

  const topology machine = topology_of(request.machine);
  if (json) is_right = json->try_write(to_json(machine, rows)) && is_right;
  if (map) is_right = map->draw(request, choices.front()) && is_right;
  fmt::print(json && json->is_stdout() ? stderr : stdout, "{}", to_table(machine, rows));
  return is_right ? exit_success : exit_failure;
}

}  // namespace

command add_simulate_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("simulate", "Run workloads on a virtual machine with many cores");
  // Values are read from the parsed options when the command runs, see option_value.hpp.
  add_text(*app, "workload", "Name, or name:size; the default sizes are smaller than those of 'filch bench'",
           "WORKLOAD[:SIZE]")
      ->allow_extra_args();
  add_text(*app, "--machine", "A machine file, by name or path, or SOCKETSxCORES of a generic machine",
           "NAME|SxC|FILE");
  add_text(*app, "--numa", "Where the pages of data are: interleave or first_touch (default: as the machine file says)",
           "N");
  add_text(*app, "--workers", "Numbers of workers (default: all hardware threads of the machine)", "N,...");
  add_filch_options(*app);
  add_text(*app, "--places", "Workloads of places: numbers of places, each a machine of its own (default: 1)", "P,...");
  add_places_options(*app);
  add_text(*app, "--seed", "First seed (default: 1)", "S");
  add_text(*app, "--seeds",
           fmt::format("Number of seeds, and of runs of each row (default: {})", simulation_request{}.seeds), "N");
  app->add_flag("--sensitivity")->description("Also with communication 30 % faster and 30 % slower");
  app->add_flag("--bound")->description(
      "Also what the computation is made of: work T1, span T_inf and branching depth F; and, for policies "
      "with private deques, the delay of communication and the bound on the time that follows");
  add_text(*app, "--processes", "Simulations at a time; changes no result (default: one for each processor)", "N");
  add_text(*app, "--json", "Write the results to this file, too; - is standard output (the table then goes to stderr)",
           "FILE");
  add_text(*app, "--map",
           "Draw which worker computed what to FILE.svg and FILE.png, or to the one that is named; a run of its own "
           "for each row",
           "FILE");
  app->footer(examples);
  return {app, [app] { return run_simulate(*app); }};
}

}  // namespace filch::cli
