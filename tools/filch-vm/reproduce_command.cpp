// filch reproduce: repeats the experiments of papers on virtual machines, shows the papers' figures beside ours, and
// checks what is claimed to hold of both.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data_folder.hpp"
#include "filch_options.hpp"
#include "option_value.hpp"
#include "output_file.hpp"
#include "reproduction_report.hpp"
#include "simulated_rows.hpp"
#include "vm_commands.hpp"

namespace filch::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view small_scale = "small";
constexpr std::string_view paper_scale = "paper";

constexpr auto examples =
    R"(Claims are about sign and shape, not about seconds. Exit status 1: one does not hold. The same command prints the
same bytes; variables FILCH_* of the environment mean nothing to it.

Examples:
  filch reproduce lazy                              all that is there of 'Lazy Scheduling' (Tzannes and others 2014)
  filch reproduce lazy/table5 --sensitivity         one of its tables, with three speeds of communication
  filch reproduce lazy/figures7-9 --scale paper --out results
)";

struct chosen_experiment {
  std::string name;  // "lazy/table5"
  fs::path file;
};

std::vector<std::string_view> views_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

const reproduced_paper& find_paper(const std::vector<reproduced_paper>& papers, const std::string& name) {
  std::vector<std::string_view> known;
  std::ranges::transform(papers, std::back_inserter(known), &reproduced_paper::name);
  require_known("paper", name, known, fmt::format("papers are {}", fmt::join(known, ", ")));
  return *std::ranges::find(papers, name, &reproduced_paper::name);
}

// Whether `name` is the figure or a part of it: "fig6b" is one of "fig6".
bool is_of_figure(std::string_view name, std::string_view figure) {
  if (!name.starts_with(figure)) return false;
  const std::string_view part = name.substr(figure.size());
  return part.empty() || (part.size() == 1 && part.front() >= 'a' && part.front() <= 'z');
}

// What "lazy", "lazy/table5" or "private-deques/fig6" stands for.
std::vector<chosen_experiment> choose(const std::vector<reproduced_paper>& papers, const std::string& text) {
  const std::size_t slash = text.find('/');
  const reproduced_paper& paper = find_paper(papers, text.substr(0, slash));
  std::vector<std::string> names = paper.experiments;
  if (slash != std::string::npos) {
    const std::string figure = text.substr(slash + 1);
    std::erase_if(names, [&](const std::string& name) { return !is_of_figure(name, figure); });
    if (names.empty()) {
      require_known("figure", figure, views_of(paper.experiments),
                    fmt::format("{} has {}", paper.name, fmt::join(paper.experiments, ", ")));
    }
  }
  std::vector<chosen_experiment> chosen;
  std::ranges::transform(names, std::back_inserter(chosen), [&](const std::string& name) -> chosen_experiment {
    return {paper.name + "/" + name, reproduction_folder() / paper.name / (name + ".json")};
  });
  return chosen;
}

std::vector<chosen_experiment> choose_all(const std::vector<std::string>& texts) {
  const std::vector<reproduced_paper> papers = load_papers(reproduction_folder());
  if (texts.empty()) {
    std::vector<std::string_view> names;
    std::ranges::transform(papers, std::back_inserter(names), &reproduced_paper::name);
    throw std::invalid_argument(fmt::format("no paper given; papers are {}", fmt::join(names, ", ")));
  }
  std::vector<chosen_experiment> all;
  for (const std::string& text : texts) {
    for (const chosen_experiment& each : choose(papers, text)) {
      if (std::ranges::find(all, each.name, &chosen_experiment::name) != all.end()) {
        throw std::invalid_argument(fmt::format("'{}' is given twice; give it once", each.name));
      }
      all.push_back(each);
    }
  }
  return all;
}

std::string scale_of(const CLI::App& app) {
  const std::string scale = value_of(app, "--scale").value_or(std::string{small_scale});
  const std::vector<std::string_view> known{small_scale, paper_scale};
  require_known("scale", scale, known, fmt::format("scales are {}", fmt::join(known, ", ")));
  return scale;
}

// The files that one experiment is written to.
struct result_files {
  output_file text;
  output_file json;
};

// Whether the files can be written is found out before the first run.
std::vector<result_files> open_files(const fs::path& folder, const std::vector<chosen_experiment>& chosen) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw std::invalid_argument(
        fmt::format("cannot make the folder '{}': {}; name one that can be written", folder.string(), error.message()));
  }
  std::vector<result_files> files;
  for (const chosen_experiment& each : chosen) {
    std::string name = each.name;
    std::ranges::replace(name, '/', '-');
    files.push_back(
        {output_file((folder / (name + ".txt")).string()), output_file((folder / (name + ".json")).string())});
  }
  return files;
}

int run_reproduce(const CLI::App& app) {
  const std::vector<chosen_experiment> chosen = choose_all(app.get_option("paper")->results());
  const std::string scale = scale_of(app);
  const std::vector<double> factors = is_set(app, "--sensitivity") ? sensitivity_factors : std::vector{1.0};
  const std::size_t processes = processes_of(app);
  std::vector<result_files> files;
  if (const auto folder = value_of(app, "--out")) {
    files = open_files(*folder, chosen);
  }
  std::vector<reproduction> plans;
  std::ranges::transform(chosen, std::back_inserter(plans),
                         [&](const chosen_experiment& each) { return load_reproduction(each.file, scale); });

  bool is_right = true;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    reproduction_result result{.name = chosen[i].name, .scale = scale, .what = plans[i], .points = {}, .claims = {}};
    is_right = measure(result.what, factors, processes, result.points) && is_right;
    result.claims = judge(result.what, factors, result.points);
    is_right = std::ranges::all_of(result.claims, &judged_claim::holds) && is_right;
    const std::string text = to_text(result);
    if (!files.empty()) {
      is_right = files[i].text.try_write(text) && is_right;
      is_right = files[i].json.try_write(to_json(result)) && is_right;
    }
    // What cannot be printed is an error when all are done.
    std::fputs(((i == 0 ? "" : "\n") + text).c_str(), stdout);
    std::fflush(stdout);  // the next one may take long
  }
  return is_right ? exit_success : exit_failure;
}

}  // namespace

command add_reproduce_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("reproduce", "Repeat the experiments of papers on virtual machines");
  // Values are read from the parsed options when the command runs, see option_value.hpp.
  add_text(*app, "paper", "A paper, or one of its figures, tables and sections, as in lazy/table5", "PAPER[/FIGURE]")
      ->allow_extra_args();
  add_text(*app, "--scale", "small: some minutes for a whole paper; paper: its own sizes, for hours (default: small)",
           "small|paper");
  app->add_flag("--sensitivity")->description("Also with communication 30 % faster and 30 % slower");
  add_text(*app, "--processes", "Simulations at a time; changes no result (default: one for each processor)", "N");
  add_text(*app, "--out", "Also write each result to this folder, as text and as JSON", "DIR");
  app->footer(examples);
  return {app, [app] { return run_reproduce(*app); }};
}

}  // namespace filch::cli
