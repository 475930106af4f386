// filch latency: what a pool costs while it has nothing to do, and how soon it begins.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <filch/filch.hpp>

#include "command.hpp"
#include "estimate.hpp"
#include "filch_options.hpp"
#include "json_text.hpp"
#include "option_value.hpp"
#include "progress_line.hpp"
#include "text_table.hpp"

namespace filch::cli {

namespace {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

double seconds_since(steady::time_point begin) { return std::chrono::duration<double>(steady::now() - begin).count(); }

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// NOLINTNEXTLINE(misc-no-recursion): that is the work.
long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

/// The smallest value that is at least as large as that share of all. They are not empty.
double percentile(std::vector<double> values, double share) {
  const auto index = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

/// Processor time while nothing is to be done, as a share of one processor.
double idle_share(scheduler& pool) {
  pool.run([] { return fib(30); });
  std::this_thread::sleep_for(milliseconds(10));
  const double used = processor_seconds();
  const steady::time_point begin = steady::now();
  std::this_thread::sleep_for(milliseconds(1000));
  return (processor_seconds() - used) / seconds_since(begin);
}

struct wake_up {
  double median_s;
  double p99_s;
  double worst_s;
  int missed;  ///< branches that nobody else began within 20 ms
};

/// From a fork, which comes two milliseconds after the last work, until its branch begins on another worker.
wake_up measure_wake_up(scheduler& pool, int rounds) {
  std::vector<double> seconds;
  int missed = 0;
  for (int i = 0; i < rounds; ++i) {
    std::this_thread::sleep_for(milliseconds(2));
    pool.run([&] {
      const int forker = this_worker();
      const steady::time_point forked = steady::now();
      std::atomic<bool> begun = false;
      fork_join(
          [&] {
            // Forks as parallel code does: policies differ in when a worker looks whether others want something.
            while (!begun.load(std::memory_order_relaxed) && steady::now() - forked < milliseconds(20)) {
              fork_join([] {}, [] {});
            }
          },
          [&] {
            const double s = seconds_since(forked);
            begun.store(true, std::memory_order_relaxed);
            if (this_worker() != forker) {
              seconds.push_back(s);
            } else {
              ++missed;
            }
          });
    });
  }
  if (seconds.empty()) return {.median_s = NAN, .p99_s = NAN, .worst_s = NAN, .missed = missed};
  return {.median_s = median(seconds),
          .p99_s = percentile(seconds, 0.99),
          .worst_s = std::ranges::max(seconds),
          .missed = missed};
}

/// Work of one thread, some milliseconds, that no compiler leaves out.
double serial_work() {
  static std::atomic<unsigned> result = 0;
  const steady::time_point begin = steady::now();
  unsigned x = result.load(std::memory_order_relaxed) + 1;
  for (int i = 0; i < 4'000'000; ++i) x = x * 1'664'525U + 1'013'904'223U;
  result.store(x, std::memory_order_relaxed);
  return seconds_since(begin);
}

struct serial_phases {
  std::vector<double> asleep;  ///< time over that without a pool
  std::vector<double> warm;
};

serial_phases measure_serial_phases(const options& chosen, int rounds) {
  constexpr int runs = 5;
  const auto fastest = [] {
    double best = serial_work();
    for (int i = 1; i < runs; ++i) best = std::min(best, serial_work());
    return best;
  };
  serial_phases ratios;
  for (int i = 0; i < rounds; ++i) {
    const double alone = fastest();
    scheduler pool(chosen);
    pool.run([] { return fib(20); });
    std::this_thread::sleep_for(milliseconds(5));
    ratios.asleep.push_back(fastest() / alone);
    const keep_warm here(pool);
    ratios.warm.push_back(fastest() / alone);
  }
  return ratios;
}

constexpr int crowd_fib = 33;

/// Two schedulers, each with all workers, at once, over one of them that does both one after the other.
double crowd_ratio(const options& chosen) {
  scheduler first(chosen);
  scheduler second(chosen);
  steady::time_point begin = steady::now();
  first.run([] { fib(crowd_fib), fib(crowd_fib); });
  const double one = seconds_since(begin);
  begin = steady::now();
  {
    const std::jthread other([&] { second.run([] { fib(crowd_fib); }); });
    first.run([] { fib(crowd_fib); });
  }
  return seconds_since(begin) / one;
}

/// Four times the workers, over as many as were asked for.
double oversubscription_ratio(const options& chosen) {
  options many = chosen;
  scheduler normal(chosen);
  many.workers = 4 * normal.workers();
  scheduler crowded(many);
  steady::time_point begin = steady::now();
  normal.run([] { fib(crowd_fib); });
  const double one = seconds_since(begin);
  begin = steady::now();
  crowded.run([] { fib(crowd_fib); });
  return seconds_since(begin) / one;
}

template <class Measure>
std::vector<double> repeat(int times, const Measure& measure) {
  std::vector<double> all(static_cast<std::size_t>(times));
  std::ranges::generate(all, measure);
  return all;
}

std::string ratio_text(std::span<const double> values) {
  const interval known = median_interval(values);
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", median(values), known.low, known.high);
}

nlohmann::ordered_json ratio_json(std::span<const double> values) {
  const interval known = median_interval(values);
  return {{"median", median(values)}, {"low", known.low}, {"high", known.high}};
}

nlohmann::ordered_json wake_up_json(const wake_up& w) {
  return {{"median_s", w.median_s}, {"p99_s", w.p99_s}, {"worst_s", w.worst_s}, {"missed", w.missed}};
}

int run_latency(const CLI::App& app) {
  const auto integer = [&](const std::string& option, int otherwise, int low, int high) {
    const std::optional<std::string> given = value_of(app, option);
    return given ? parse_integer(option, *given, low, high) : otherwise;
  };
  options chosen;
  chosen.workers = integer("--workers", 0, 1, 1024);
  chosen.policy = value_of(app, "--policy").value_or("");
  const int rounds = integer("--rounds", 1000, 1, 1'000'000);
  const bool as_json = is_set(app, "--json");
  const int repeats = std::clamp(rounds / 50, 1, 21);

  progress_line progress;
  double idle = 0;
  std::optional<wake_up> from_sleep;
  std::optional<wake_up> when_warm;
  int workers = 0;
  std::string policy;
  {
    scheduler pool(chosen);
    workers = pool.workers();
    policy = pool.policy();
    progress.show("idle");
    idle = idle_share(pool);
    if (workers > 1) {
      progress.show("wake-up");
      from_sleep = measure_wake_up(pool, rounds);
      progress.show("wake-up, kept warm");
      const keep_warm here(pool);
      when_warm = measure_wake_up(pool, rounds);
    }
  }
  progress.show("serial phases");
  const serial_phases serial = measure_serial_phases(chosen, repeats);
  progress.show("two schedulers, and too many workers");
  const std::vector<double> crowd = repeat(repeats, [&] { return crowd_ratio(chosen); });
  const std::vector<double> many = repeat(repeats, [&] { return oversubscription_ratio(chosen); });
  progress.clear();

  if (as_json) {
    nlohmann::ordered_json all{{"workers", workers}, {"policy", policy}, {"idle_processors", idle}};
    if (from_sleep) all["wake_up_from_sleep"] = wake_up_json(*from_sleep);
    if (when_warm) all["wake_up_kept_warm"] = wake_up_json(*when_warm);
    all["serial_beside_sleeping"] = ratio_json(serial.asleep);
    all["serial_beside_warm"] = ratio_json(serial.warm);
    all["two_schedulers"] = ratio_json(crowd);
    all["four_times_the_workers"] = ratio_json(many);
    fmt::print("{}", json_text(all));
    return exit_success;
  }
  text_table table({{"what", text_table::align::left}, {"measured", text_table::align::left}});
  table.add_row({"processor time in the second after the last task", fmt::format("{:.2f} % of one", 100 * idle)});
  const auto add_wake_up = [&](const std::string& what, const std::optional<wake_up>& w) {
    if (!w) return;
    table.add_row({what, w->missed == rounds
                             ? "no other worker came"
                             : fmt::format("median {}, 99 % within {}, worst {}", format_seconds(w->median_s),
                                           format_seconds(w->p99_s), format_seconds(w->worst_s))});
    if (w->missed != 0)
      table.add_row({"  run by the forking worker after 20 ms", fmt::format("{} of {}", w->missed, rounds)});
  };
  add_wake_up("from a fork to another worker's start, all asleep", from_sleep);
  add_wake_up("the same with keep_warm", when_warm);
  table.add_row({"serial code beside sleeping workers, over none", ratio_text(serial.asleep)});
  table.add_row({"the same with keep_warm", ratio_text(serial.warm)});
  table.add_row({"two schedulers at once, over one after the other", ratio_text(crowd)});
  table.add_row({"four times the workers, over as many as said", ratio_text(many)});
  fmt::print("{} workers, policy {}; ratios are medians with 95 % intervals\n\n{}", workers, policy, table.to_string());
  return exit_success;
}

}  // namespace

command add_latency_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand("latency", "Measure what an idle pool costs, and how soon it begins");
  add_text(*app, "--workers", "Workers, the calling thread included (default: all that may be used)", "N");
  add_text(*app, "--policy", "Policy (default: standard)", "NAME");
  add_text(*app, "--rounds", "Wake-ups to measure (default: 1000)", "N");
  app->add_flag("--json")->description("Print JSON");
  app->footer("Example:\n  filch latency --workers 2\n");
  return {app, [app] { return run_latency(*app); }};
}

}  // namespace filch::cli
