// filch profile: why a program is as fast as it is, and how fast more workers would make it, as a page of HTML.
//
// The program runs three times: in its own order, measured by FILCH_PROFILE; as it always does, recorded by FILCH_TRACE;
// and, as the graph of its tasks, on the virtual machine. Each part is a program of its own, and this one puts together
// what they write.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/scheduler.hpp>

#include "command.hpp"
#include "filch_options.hpp"
#include "option_value.hpp"
#include "output_file.hpp"
#include "progress_line.hpp"
#include "sibling_program.hpp"
#include "text_file.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::array predicted_workers{4, 8, 16, 32, 64, 128, 256};
constexpr std::string_view machine_of_prediction = "8x32";
constexpr std::size_t most_events_of_worker = 65536;

/// A folder that is gone when this ends.
class scratch_folder {
 public:
  scratch_folder() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    std::string name = (folder / "filch-profile-XXXXXX").string();
    if (!error && mkdtemp(name.data()) == nullptr) error = {errno, std::generic_category()};
    if (error) {
      const char* const named = std::getenv("TMPDIR");
      throw std::runtime_error(fmt::format("no temporary folder can be made in '{}': {}; name another one in TMPDIR",
                                           named != nullptr ? named : "/tmp", error.message()));
    }
    path_ = name;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(std::string_view name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// Leaves the signals of the terminal to the program that is waited for, as std::system does: it ends, and what is to be
/// cleaned up here still is.
class signals_of_terminal {
 public:
  signals_of_terminal() {
    sigemptyset(&defaults_);
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      sigaction(numbers[i], &ignore, &before_[i]);
      if (before_[i].sa_handler == SIG_DFL) sigaddset(&defaults_, numbers[i]);
    }
  }
  signals_of_terminal(const signals_of_terminal&) = delete;
  signals_of_terminal& operator=(const signals_of_terminal&) = delete;
  ~signals_of_terminal() {
    for (std::size_t i = 0; i < numbers.size(); ++i) sigaction(numbers[i], &before_[i], nullptr);
  }
  /// Those that the program is to have as they were.
  [[nodiscard]] const sigset_t& defaults() const noexcept { return defaults_; }

 private:
  static constexpr std::array numbers{SIGINT, SIGQUIT};
  std::array<struct sigaction, numbers.size()> before_{};
  sigset_t defaults_{};
};

/// Runs a program with variables in addition to those of the environment, and returns its exit status; 128 and the signal's
/// number if one ended it.
int status_of(const std::vector<std::string>& command, const std::vector<std::string>& variables,
              const fs::path& output = {}) {
  std::vector<char*> words;
  const auto word = [](const std::string& text) { return const_cast<char*>(text.c_str()); };
  std::ranges::transform(command, std::back_inserter(words), word);
  words.push_back(nullptr);
  std::vector<char*> environment;
  for (char** each = environ; *each != nullptr; ++each) {
    // A variable that is there already would be the one that counts.
    const std::string_view one(*each);
    const bool is_replaced = one.starts_with("FILCH_PROFILE=") || one.starts_with("FILCH_TRACE=");
    if (!is_replaced) environment.push_back(*each);
  }
  std::ranges::transform(variables, std::back_inserter(environment), word);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  if (!output.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  const signals_of_terminal signals;
  posix_spawnattr_t attributes{};
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &signals.defaults());
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int error = posix_spawnp(&process, words.front(), &actions, &attributes, words.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::invalid_argument(fmt::format("the program '{}' cannot be run: {}; name one that is there",
                                            command.front(), std::generic_category().message(error)));
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void run_program_with(const std::vector<std::string>& command, const std::string& variable) {
  const int status = status_of(command, {variable});
  if (status != 0) {
    throw std::runtime_error(fmt::format("the program '{}' ended with status {} under {}; profile one that ends with 0",
                                         command.front(), status, variable.substr(0, variable.find('='))));
  }
}

/// The file that a program was told to write; of several places, place 0's.
fs::path written_as(const fs::path& path) {
  const fs::path of_place_0 = path.parent_path() / (path.stem().string() + ".0" + path.extension().string());
  return fs::exists(of_place_0) ? of_place_0 : path;
}

/// A page that a program has written: its figures, and what is around them.
struct profile_page {
  std::string before;
  ordered_json figures;
  std::string after;
};

profile_page read_page(const fs::path& path, const std::string& program) {
  const std::string text = text_of(path);
  constexpr std::string_view begin = "type=\"application/json\">";
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find("</script>", from);
  if (from == std::string::npos || to == std::string::npos) {
    throw std::runtime_error(fmt::format(
        "the program '{}' has written no profile; link it with this version of filch, and let it use a scheduler",
        program));
  }
  const std::size_t json = from + begin.size();
  return {.before = text.substr(0, json),
          .figures = ordered_json::parse(text.substr(json, to - json)),
          .after = text.substr(to)};
}

/// What the workers of the busiest scheduler did.
ordered_json read_trace(const fs::path& path) {
  struct of_worker {
    std::string name;
    double since_us = 1e300;
    double until_us = 0;
    std::map<std::string, double> us;
    std::map<long long, double> taken_from;
    std::size_t events = 0;
  };
  std::map<int, std::map<int, of_worker>> teams;
  const ordered_json trace = ordered_json::parse(text_of(path));
  for (const ordered_json& event : trace.at("traceEvents")) {
    const int team = event.at("pid");
    if (!event.contains("tid")) continue;
    of_worker& w = teams[team][event.at("tid").get<int>()];
    if (event.at("ph") == "M") {
      w.name = event.at("args").at("name");
      continue;
    }
    ++w.events;
    const double since = event.at("ts");
    const double lasts = event.value("dur", 0.0);
    const std::string name = event.at("name");
    w.since_us = std::min(w.since_us, since);
    w.until_us = std::max(w.until_us, since + lasts);
    w.us[name] += lasts;
    if (name == "task from") w.taken_from[event.at("args").at("number").get<long long>()] += 1;
  }
  const auto events = [](const auto& team) {
    std::size_t sum = 0;
    for (const auto& [number, w] : team.second) sum += w.events;
    return sum;
  };
  const auto busiest = std::ranges::max_element(teams, {}, events);
  if (busiest == teams.end()) return nullptr;
  const std::map<int, of_worker>& team = busiest->second;
  double since_us = 1e300;
  double until_us = 0;
  bool is_tail = false;
  for (const auto& [number, w] : team) {
    since_us = std::min(since_us, w.since_us);
    until_us = std::max(until_us, w.until_us);
    is_tail = is_tail || w.events >= most_events_of_worker;
  }
  if (is_tail) {
    // What all of them remember.
    since_us = 0;
    for (const auto& [number, w] : team) since_us = std::max(since_us, w.since_us);
  }
  ordered_json all{{"elapsed_ns", 1e3 * (until_us - since_us)}, {"is_tail", is_tail}};
  for (const auto& [number, w] : team) {
    const auto of = [&](const char* name) { return w.us.contains(name) ? w.us.at(name) : 0.0; };
    // Sleep is inside of the other two, first of searches.
    const double asleep = of("asleep");
    const double searching = std::max(0.0, of("idle") - asleep);
    const double waiting = std::max(0.0, of("wait") - std::max(0.0, asleep - of("idle")));
    const double lasts = (is_tail ? w.until_us - w.since_us : until_us - since_us);
    // A worker begins with a search that has no end in the trace if it never found anything.
    const double working = std::max(0.0, lasts - searching - waiting - asleep);
    all["workers"].push_back({{"name", w.name},
                              {"working_ns", 1e3 * working},
                              {"searching_ns", 1e3 * searching},
                              {"waiting_ns", 1e3 * waiting},
                              {"sleeping_ns", 1e3 * asleep}});
    ordered_json row = ordered_json::array();
    for (const auto& [other, unused] : team) row.push_back(w.taken_from.contains(other) ? w.taken_from.at(other) : 0.0);
    all["steals"].push_back(std::move(row));
  }
  return all;
}

/// Speed-ups of the recorded graph on the virtual machine. No more than the parallelism: of what comes before a node of a
/// task_graph, the graph has one only.
ordered_json predict(const ordered_json& figures, const scratch_folder& scratch) {
  const fs::path file = scratch / "graph";
  {
    std::ofstream out(file);
    for (const ordered_json& token : figures.at("graph")) out << token.get<long long>() << '\n';
  }
  const fs::path results = scratch / "simulated.json";
  std::string workers;
  for (const int each : predicted_workers) workers += fmt::format("{}{}", workers.empty() ? "" : ",", each);
  const int status =
      status_of({sibling_program("filch-vm").string(), "simulate", "recorded:" + file.string(), "--machine",
                 std::string(machine_of_prediction), "--workers", workers, "--seeds", "3", "--json", results.string()},
                {}, scratch / "table");
  if (status != 0) throw std::runtime_error("the graph of the program's tasks could not be simulated; see above");
  const double parallelism = figures.at("work_ns").get<double>() / std::max(1.0, figures.at("span_ns").get<double>());
  ordered_json all = ordered_json::array();
  const ordered_json simulated = ordered_json::parse(text_of(results));
  for (const ordered_json& row : simulated.at("rows")) {
    if (row.at("runner") != "filch") continue;
    all.push_back({{"workers", row.at("workers")},
                   {"speed_up", std::min(parallelism, 1 / row.at("ratio_to_serial").get<double>())}});
  }
  return all;
}

/// Runs a workload once: the program that is profiled, when none is given.
int run_workload(const std::string& name) {
  const auto instance = choose_workload(name).make();
  instance->prepare();
  scheduler& pool = scheduler::default_scheduler();
  pool.run([&] {
    instance->begin(bench::runner::filch);
    instance->run(bench::runner::filch);
  });
  if (instance->verify()) return exit_success;
  fmt::print(stderr, "filch: {} computed a wrong result: {}\n", name, instance->result());
  return exit_failure;
}

int run_profile(const CLI::App& app) {
  if (const auto workload = value_of(app, "--run-once")) return run_workload(*workload);
  std::vector<std::string> command = app.get_option("program")->results();
  if (command.empty()) {
    throw std::invalid_argument(
        "profile has nothing to run; name a workload of 'filch list', or write --program -- PROGRAM ARGUMENT...");
  }
  const output_file page_file(value_of(app, "--output").value_or("profile.html"));
  std::string title = fs::path(command.front()).filename().string();
  if (!is_set(app, "--program")) {
    if (command.size() != 1) {
      throw std::invalid_argument(
          fmt::format("profile takes one workload, and {} words are given; to run a program, write --program -- "
                      "PROGRAM ARGUMENT...",
                      command.size()));
    }
    const workload_choice choice = choose_workload(command.front());
    if (choice.has_places()) {
      throw std::invalid_argument(fmt::format(
          "workload '{}' cannot be profiled, since it needs places; name one of 'filch list' that needs none, "
          "or write --program -- with a program that calls places::run",
          command.front()));
    }
    title = choice.label();
    command = {(program_folder() / "filch").string(), "profile", "--run-once", title};
  }

  const scratch_folder scratch;
  progress_line progress;
  progress.show("in its own order");
  run_program_with(command, "FILCH_PROFILE=" + (scratch / "page.html").string());
  profile_page page = read_page(written_as(scratch / "page.html"), command.front());
  page.figures["program"] = title;
  progress.show("in parallel");
  run_program_with(command, "FILCH_TRACE=" + (scratch / "trace.json").string());
  if (const ordered_json parallel = read_trace(written_as(scratch / "trace.json")); !parallel.is_null())
    page.figures["parallel"] = parallel;
  progress.show("on the virtual machine");
  std::string unpredicted;
  try {
    page.figures["predicted"] = predict(page.figures, scratch);
  } catch (const std::runtime_error& error) {
    unpredicted = error.what();  // the rest of the page is worth having
  }
  progress.clear();
  page_file.write(page.before + "\n" + page.figures.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n" +
                  page.after);

  const double work_ns = page.figures.at("work_ns");
  const double span_ns = page.figures.at("span_ns");
  fmt::print("work {:.3g} ms, span {:.3g} ms, parallelism {:.3g}\n", work_ns / 1e6, span_ns / 1e6,
             work_ns / std::max(1.0, span_ns));
  if (unpredicted.empty()) {
    fmt::print("speed-up on the virtual machine:");
    for (const ordered_json& each : page.figures.at("predicted")) {
      fmt::print(" {} workers {:.3g};", each.at("workers").get<int>(), each.at("speed_up").get<double>());
    }
    fmt::print("\n");
  } else {
    fmt::print("no speed-up is predicted: {}\n", unpredicted);
  }
  for (const ordered_json& line : page.figures.at("advice")) fmt::print("- {}\n", line.get<std::string>());
  if (!page_file.is_stdout()) fmt::print("{}\n", value_of(app, "--output").value_or("profile.html"));
  return exit_success;
}

}  // namespace

command add_profile_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("profile", "Show where a program's parallelism ends, as a page of HTML");
  add_text(*app, "program", "A workload, or a program and its arguments", "WORKLOAD[:SIZE]")->allow_extra_args();
  app->add_flag("--program")->description("Run a program that is linked with filch, not a workload");
  add_text(*app, "--output", "The page (default: profile.html)", "FILE");
  add_text(*app, "--run-once", "Run a workload once, and no more", "WORKLOAD")->group("");
  app->footer(
      "The program runs in its own order first, to be measured, then as it always does, and at last, as the graph of "
      "its\n"
      "tasks, on the virtual machine.\n\n"
      "Examples:\n  filch profile nqueens:11\n  filch profile --output mine.html --program -- ./mine 1000\n");
  return {app, [app] { return run_profile(*app); }};
}

}  // namespace filch::cli
