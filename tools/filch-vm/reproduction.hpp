// An experiment of a paper as a file describes it: what to run, what the paper found, and what is claimed to hold.
//
// Such a file is a JSON object with the keys below. Wherever its values differ between the small and the paper's own
// size, it has {"small": ..., "paper": ...} in their place. docs/reproduce.md describes the keys for who writes one.
// Reading is strict: what is missing, misspelt or of the wrong kind is an error, because an experiment that silently
// leaves something out would still look like a success.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <filch/vm/simulation.hpp>

#include "configuration.hpp"

namespace filch::cli {

/// A way of scheduling that the experiment compares with others: one column of its tables.
struct compared_setting {
  std::string name;  ///< as the paper calls it
  std::string way;   ///< what {way} stands for in workloads
  // In nanoseconds, for policies that they go with; {x} is replaced; empty: left to the library.
  std::string delta;
  std::string interrupt_after;
  std::string interrupt_every;
  configuration config{};  ///< without workers and the above
  // Of runs at places.
  std::string places_policy{};
  bool cyclic_steals = true;

  /// Some time is given that 'filch bench' is not told when it measures several settings at once.

  /// Not one of filch's: measured on real processors only.
  bool is_peer() const { return config.runner != bench::runner::filch; }
};

/// Workloads on one machine: some rows of the tables. {x} and {way} in texts are replaced.
struct planned_runs {
  std::string group;  ///< names the rows
  std::string machine;
  std::string workload;
  std::string workers;                ///< on this machine: or "all"
  std::vector<std::string> xs;        ///< one row for each
  std::vector<std::string> settings;  ///< names
  int seeds;                          ///< runs of each row
  // Where the machine's data is; none: as its file says.
  std::optional<vm::numa_policy> numa{};
  std::optional<vm::numa_policy> serial_numa{};  ///< of the serial run; none: as for the others
  // How many places, each of them such a machine; {x} is replaced; empty: none. Communication is dedicated.
  std::string places{};
  int tasks_per_shipment = 1;

  /// On the real processors of this machine. Such rows are shown and not judged.
  bool is_native() const { return machine == native; }
  static constexpr std::string_view native = "this machine";
};

/// A figure that the paper gives.
struct published_figure {
  std::string group;
  std::string setting;
  std::string x;  ///< empty: of the group's only row
  double value;
};

/// What is measured: one table.
struct compared_metric {
  std::string name;
  std::string title;
  std::vector<std::string> counters;  ///< whose sum it is, an average over the runs; none: the speed-up
  std::string per;                    ///< a counter that the sum is divided by; or empty
  bool percent = false;               ///< times 100
  bool milliseconds = false;          ///< the time, virtual
  std::string against;                ///< a setting: by how many per cent the time is longer than under that; or empty
  std::vector<std::pair<std::string, double>> amounts;  ///< of groups: what a run does; then 1e-9 of it per second
  std::vector<published_figure> published;
};

/// One value in a table, or the largest or the least of those of all rows in a group.
struct place {
  std::string group;
  std::string setting;
  std::string x;  ///< empty: that of the group's only row

  static constexpr std::string_view largest = "largest";
  static constexpr std::string_view least = "least";
};

/// left >= factor * right, or <=, or ==, or "around": factor * right is in the 95 % interval of left. Without a right
/// side that is 1.
struct claim {
  std::string says;
  std::string metric;
  place left;
  std::string relation;  ///< ">=", "<=", "==" or "around"
  double factor;
  std::optional<place> right;
};

struct reproduction {
  std::string title;
  std::vector<std::string> about;  ///< lines: in what it differs from the paper's
  std::string x_title;
  std::vector<compared_setting> settings;
  std::vector<planned_runs> runs;
  std::vector<compared_metric> metrics;
  std::vector<claim> claims;
};

/// What of a paper can be repeated.
struct reproduced_paper {
  std::string name;  ///< of its folder
  std::string title;
  std::vector<std::string> experiments;  ///< names of its files, in the order of the paper
};

/// The papers in a folder of experiments, by name. Throws std::runtime_error when there are none, or when a file is
/// wrong.
std::vector<reproduced_paper> load_papers(const std::filesystem::path& folder);

/// `scale`: "small" or "paper". Throws std::runtime_error, with one line that names the file, when it is wrong.
reproduction load_reproduction(const std::filesystem::path& file, std::string_view scale);

}  // namespace filch::cli
