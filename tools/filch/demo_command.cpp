// filch demo: five programs on this machine, as plain serial code and on three runtimes, in one table.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <filch/topology.hpp>

#include "command.hpp"
#include "deep_stacks.hpp"
#include "error_line.hpp"
#include "estimate.hpp"
#include "executor.hpp"
#include "progress_line.hpp"
#include "report.hpp"
#include "sampler.hpp"
#include "text_table.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

namespace {

struct demo_program {
  std::string workload;  // as on the command line
  std::string summary;
  std::string smaller{};  // the same for runtimes that would take too long; empty: none do
};

const std::array<demo_program, 5> programs{{
    {"fib:36", "recursion, a task per call", "fib:27"},
    {"nqueens:12", "search with irregular depth", ""},
    {"uts:T1", "walk of an unbalanced tree", ""},
    {"cilksort", "merge sort, limited by memory", ""},
    {"matmul", "matrix product, limited by arithmetic", ""},
}};

// Few rounds, and slow runtimes once only: the whole demo is to take less than a minute.
constexpr sampling_options few_rounds{.budget_s = 3.0, .least_rounds = 3, .most_rounds = 11, .once_above_s = 1.5};

// A runtime that would need longer than this for one run is measured on the smaller program.
constexpr double longest_run_s = 6.0;

// The runtimes side by side, in the order of the table's columns.
class contestants {
 public:
  contestants() : filch_(make_filch_executor({.runner = bench::runner::filch, .workers = 0})) {
    tbb_ = make_tbb_executor(bench::runner::tbb, workers());
    openmp_ = make_openmp_executor(bench::runner::openmp, workers());
  }

  int workers() const { return filch_->config().workers; }
  std::vector<executor*> all() const { return {tbb_.get(), openmp_.get(), filch_.get()}; }

 private:
  std::unique_ptr<executor> filch_;
  std::unique_ptr<executor> tbb_;
  std::unique_ptr<executor> openmp_;
};

class demo {
 public:
  /// Measures the programs one after the other; errors are wrong results.
  void run();

  std::string table() const { return table_.to_string(); }
  bool has_substitutes() const { return has_substitutes_; }
  int workers() const { return contestants_.workers(); }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  struct speed_ups {
    double serial_s;
    std::map<const executor*, double> of;
  };

  void add(const demo_program& program);
  speed_ups measure(const std::string& workload, const std::vector<executor*>& others);
  std::vector<executor*> too_slow_for(const demo_program& program) const;

  contestants contestants_;
  std::unique_ptr<executor> serial_ = make_serial_executor();
  progress_line progress_;
  text_table table_{{{"program", text_table::align::left},
                     {"what it is", text_table::align::left},
                     {"serial time", text_table::align::right},
                     {"oneTBB", text_table::align::right},
                     {"OpenMP", text_table::align::right},
                     {"filch", text_table::align::right}}};
  bool has_substitutes_ = false;
  std::vector<std::string> errors_;
};

void demo::run() {
  std::ranges::for_each(programs, [this](const demo_program& each) { add(each); });
}

void demo::add(const demo_program& program) {
  const std::vector<executor*> slow = too_slow_for(program);
  std::vector<executor*> quick;
  std::ranges::copy_if(contestants_.all(), std::back_inserter(quick),
                       [&](executor* each) { return std::ranges::find(slow, each) == slow.end(); });
  const speed_ups full = measure(program.workload, quick);
  const speed_ups substitutes = slow.empty() ? speed_ups{} : measure(program.smaller, slow);
  has_substitutes_ = has_substitutes_ || !slow.empty();

  std::vector<std::string> cells{program.workload, program.summary, format_seconds(full.serial_s)};
  for (const executor* each : contestants_.all()) {
    const auto found = full.of.find(each);
    cells.push_back(found != full.of.end() ? fmt::format("{:.2f}x", found->second)
                                           : fmt::format("*{:.2f}x", substitutes.of.at(each)));
  }
  table_.add_row(std::move(cells));
}

demo::speed_ups demo::measure(const std::string& workload, const std::vector<executor*>& others) {
  const workload_choice choice = choose_workload(workload);
  const std::unique_ptr<bench::instance> instance = choice.make();
  sampler sampled(*instance, choice.label(), *serial_, others);
  sampled.take(few_rounds, progress_);
  speed_ups result{.serial_s = median(sampled.serial().seconds), .of = {}};
  for (std::size_t i = 0; i < others.size(); ++i) {
    result.of[others[i]] = 1 / median(sampled.other(i).ratios);
  }
  errors_.insert(errors_.end(), sampled.errors().begin(), sampled.errors().end());
  return result;
}

// Who, going by the smaller program, would need longer than `longest_run_s`.
std::vector<executor*> demo::too_slow_for(const demo_program& program) const {
  if (program.smaller.empty()) {
    return {};
  }
  const std::unique_ptr<bench::instance> small = choose_workload(program.smaller).make();
  const auto full_tasks = static_cast<double>(choose_workload(program.workload).make()->tasks());
  const double scale = full_tasks / static_cast<double>(small->tasks());
  std::vector<executor*> slow;
  for (executor* each : contestants_.all()) {
    small->prepare();
    const double seconds = each->run(*small);
    each->settle();
    if (seconds * scale > longest_run_s) {
      slow.push_back(each);
    }
  }
  return slow;
}

int run_demo() {
  const bench::deep_stacks deep;  // before any thread is started
  demo shown;
  shown.run();
  fmt::print("{}; each runtime uses {}\n\n{}\n", summarize(discover_topology()), shown.workers(), shown.table());
  if (shown.has_substitutes()) {
    fmt::print("* too slow for this demonstration; measured on a smaller size of the same program.\n");
  }
  fmt::print(
      "The last three columns: how many times faster than the serial program (the same source without a runtime) each\n"
      "runtime is. Above 1x it pays to use it; {0} workers ideally give {0}x. Every result was checked.\n",
      shown.workers());
  for (const std::string& error : shown.errors()) {
    print_error(error);
  }
  return shown.errors().empty() ? exit_success : exit_failure;
}

}  // namespace

command add_demo_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand(
      "demo", "Run five programs serially, on oneTBB, on OpenMP and on filch, and compare (less than a minute)");
  app->footer("Example:\n  filch demo\n");
  return {app, run_demo};
}

}  // namespace filch::cli
