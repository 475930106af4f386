// filch top: what the workers of a running program do, read from its memory. Counters say what has happened, and for how
// long a worker had no work; whether it sleeps meanwhile, or has no thread at all, is found by looking again and again.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "command.hpp"
#include "option_value.hpp"
#include "watched_process.hpp"

namespace filch::cli {

namespace {

using steady = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

constexpr int most_id = 1 << 22;  // of processes on Linux
constexpr int most_reports = 1'000'000'000;
constexpr double least_interval_s = 0.05;
constexpr double most_interval_s = 3600;
constexpr seconds between_looks{0.02};
constexpr std::size_t least_looks = 5;

struct top_options {
  pid_t process;
  seconds interval;
  std::optional<int> reports;
};

seconds parse_interval(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_in_range = value >= least_interval_s && value <= most_interval_s;  // false for what is no number
  if (text.empty() || stop != text.data() + text.size() || error != std::errc{} || !is_in_range) {
    throw std::invalid_argument(
        fmt::format("--interval '{}' is no number of seconds from {} to {}; give one, such as 0.5", text,
                    least_interval_s, most_interval_s));
  }
  return seconds(value);
}

top_options options_of(const CLI::App& app) {
  const std::optional<std::string> process = value_of(app, "PID");
  if (!process) {
    throw std::invalid_argument("filch top needs the id of a process; 'pgrep NAME' finds it");
  }
  const std::optional<std::string> count = value_of(app, "--count");
  return {.process = parse_integer("PID", *process, 1, most_id),
          .interval = parse_interval(value_of(app, "--interval").value_or("1")),
          .reports = count ? std::optional(parse_integer("--count", *count, 1, most_reports)) : std::nullopt};
}

struct snapshot {
  steady::time_point at;
  std::vector<watched_team> teams;
};

// How often each worker was seen in each state.
using looks = std::array<int, 4>;
using looks_by_team = std::map<watched_team::identity, std::vector<looks>>;

void look(const snapshot& now, looks_by_team& seen) {
  for (const watched_team& team : now.teams) {
    std::vector<looks>& of_team = seen[team.id];
    of_team.resize(std::max(of_team.size(), team.workers.size()));
    for (std::size_t i = 0; i != team.workers.size(); ++i) {
      ++of_team[i].at(static_cast<std::size_t>(team.workers[i].now));
    }
  }
}

double share_of(const looks& seen, worker_state state) {
  int all = 0;
  for (const int each : seen) {
    all += each;
  }
  return all == 0 ? 0 : static_cast<double>(seen.at(static_cast<std::size_t>(state))) / all;
}

struct row {
  double taken;
  double steals;
  double failed;
  double busy;
  double idle;
  double asleep;
};

row row_of(const watched_worker& before, const watched_worker& after, const looks& seen, seconds between) {
  const auto rate = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(to - from) / between.count();
  };
  const double absent = share_of(seen, worker_state::absent);
  const auto without_ns = static_cast<double>(after.without_work_ns - before.without_work_ns);
  const double without = std::clamp(without_ns * 1e-9 / between.count(), 0.0, 1.0 - absent);
  const double asleep = std::min(share_of(seen, worker_state::asleep), without);
  return {.taken = rate(before.steals + before.leaps, after.steals + after.leaps),
          .steals = rate(before.steals, after.steals),
          .failed = rate(before.failed_steals, after.failed_steals),
          .busy = 1.0 - absent - without,
          .idle = without - asleep,
          .asleep = asleep};
}

std::string report_of(const watched_team& before, const watched_team& after, const std::vector<looks>& seen,
                      seconds between) {
  std::string text = fmt::format("scheduler {}: policy {}, {} workers\n{:>10} {:>10} {:>10} {:>12} {:>6} {:>6} {:>6}\n",
                                 after.id.number, after.policy, after.own_workers, "worker", "taken/s", "steals/s",
                                 "failed/s", "busy", "idle", "asleep");
  for (std::size_t i = 0; i != before.workers.size(); ++i) {
    const bool is_guest = i >= after.own_workers;
    if (is_guest && share_of(seen[i], worker_state::absent) == 1) {
      continue;
    }
    const row r = row_of(before.workers[i], after.workers[i], seen[i], between);
    const auto percent = [](double share) { return fmt::format("{:.0f} %", std::abs(100 * share)); };
    text += fmt::format("{:>10} {:>10.1f} {:>10.1f} {:>12.1f} {:>6} {:>6} {:>6}\n",
                        fmt::format("{}{}", is_guest ? "guest " : "", i), r.taken, r.steals, r.failed, percent(r.busy),
                        percent(r.idle), percent(r.asleep));
  }
  return text;
}

std::string report_of(const snapshot& before, const snapshot& after, const looks_by_team& seen) {
  std::string text;
  for (const watched_team& team : after.teams) {
    const auto earlier = std::ranges::find(before.teams, team.id, &watched_team::id);
    // One that came meanwhile is in the next report.
    if (earlier != before.teams.end()) {
      text += report_of(*earlier, team, seen.at(team.id), after.at - before.at);
    }
  }
  return text.empty() ? "no scheduler\n" : text;
}

int watch(const top_options& chosen) {
  const watched_process process(chosen.process);
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  const auto take = [&] { return snapshot{steady::now(), process.read()}; };
  const seconds pause = std::min(between_looks, chosen.interval / static_cast<double>(least_looks));
  snapshot before = take();
  for (int reports = 0; !chosen.reports || reports != *chosen.reports; ++reports) {
    looks_by_team seen;
    snapshot after;
    const auto until = before.at + std::chrono::duration_cast<steady::duration>(chosen.interval);
    do {
      std::this_thread::sleep_for(pause);
      after = take();
      look(after, seen);
    } while (after.at < until && !(after.teams.empty() && process.is_over()));
    if (after.teams.empty() && process.is_over()) {
      fmt::print("process {} ({}) has ended\n", chosen.process, process.name());
      return exit_success;
    }
    const std::string report = report_of(before, after, seen);
    fmt::print("{}{} ({}), {:.1f} s\n{}{}", is_terminal ? "\x1b[H\x1b[2J" : "", process.name(), chosen.process,
               seconds(after.at - before.at).count(), report, is_terminal ? "" : "\n");
    if (std::fflush(stdout) != 0) {
      throw std::runtime_error("cannot write to standard output");
    }
    before = std::move(after);
  }
  return exit_success;
}

}  // namespace

command add_top_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("top", "Show what the workers of a running program do");
  const auto add = [&](const std::string& name, const std::string& help) {
    return app->add_option(name, help)->type_size(1)->take_all();
  };
  add("PID", "The process, of a program that uses filch");
  add("--interval", "Seconds between two reports (default 1)")->type_name("SECONDS");
  add("--count", "Ends after so many reports")->type_name("N");
  app->footer(
      "taken/s: tasks and parts of loops taken from other workers (steals by idle ones, the rest while they waited "
      "for\n"
      "others). Tasks that a worker runs itself are not counted: that would cost each of them something.\n"
      "busy: with a task; idle: awake, without anything to run; asleep. The rest of 100 %: no thread, as worker 0 "
      "while no\n"
      "thread is in run().\n"
      "The program is not stopped, and does nothing for it. It must belong to the same user.\n"
      "\nExamples:\n  filch top 4711\n  filch top $(pgrep solver) --interval 0.5 --count 10\n");
  return {app, [app] { return watch(options_of(*app)); }};
}

}  // namespace filch::cli
