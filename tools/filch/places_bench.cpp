#include "places_bench.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>

#include <fmt/format.h>

#include "error_line.hpp"
#include "executor.hpp"
#include "places_counters.hpp"
#include "progress_line.hpp"

namespace filch::cli {
namespace {

/// What was measured under one configuration.
struct places_samples {
  std::vector<double> seconds{};
  places::counts counted{};  ///< over runs and places
  std::string result{};
  bool is_wrong = false;
};

/// Of one run, the same at each place.
struct places_run {
  double seconds = 0;
  int workers = 0;
  places::counts counted{};
};

double larger_of(double a, double b) { return std::max(a, b); }

void wait_for_all() { static_cast<void>(places::all_reduce(0, std::plus<>())); }

places_run run_on_farm(bench::instance& instance, bench::task_farm& farm) {
  using clock = std::chrono::steady_clock;
  instance.prepare();
  farm.combine({}, {});
  const clock::time_point start = clock::now();
  instance.run_on(farm);
  const std::chrono::duration<double> elapsed = clock::now() - start;
  std::array seconds{std::max(elapsed.count(), 1e-9)};  // as time_run() has it
  farm.combine({}, seconds);
  return {seconds.front(), 1};
}

places_run run_once(bench::instance& instance, const places_configuration& config, place_session& all) {
  if (config.scheduler.runner == bench::runner::mpi) return run_on_farm(instance, all.farm());
  places_run made;
  all.run(options_of(config), [&] {
    instance.prepare();
    wait_for_all();
    const places::counts before = places::counted();
    const double seconds = time_run(instance, bench::runner::filch);
    const places::counts here = difference_of(places::counted(), before);
    made = {places::all_reduce(seconds, larger_of), places::workers(), places::all_reduce(here, sum_of)};
  });
  return made;
}

// The settings that were left open, as a scheduler fills them in.
void fill_in(configuration& config) {
  options few = options_of(config);
  few.workers = 1;
  const scheduler made(few);
  fill_in(config, made);
}

class places_sampler {
 public:
  places_sampler(const workload_choice& choice, std::vector<places_configuration> configurations, place_session& all)
      : choice_(choice),
        configurations_(std::move(configurations)),
        all_(all),
        instance_(choice.make()),
        samples_(configurations_.size()) {
    for (places_configuration& each : configurations_) {
      if (each.scheduler.runner == bench::runner::filch) fill_in(each.scheduler);
    }
  }

  void take(const sampling_options& options) {
    progress_line progress;
    double round_s = 0;
    for (std::size_t i = 0; i < configurations_.size(); ++i) {
      show(progress, fmt::format("warming up {}", describe(configurations_[i], all_.places())));
      round_s += run(i).seconds;
    }
    // The same everywhere, as the times are.
    int rounds = options.rounds;
    if (rounds == 0) {
      const double fitting = std::min<double>(options.budget_s / round_s, options.most_rounds);
      rounds = std::max(static_cast<int>(fitting), options.least_rounds);
    }
    std::vector<std::size_t> order(configurations_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 chance(1);
    for (int round = 0; round < rounds; ++round) {
      show(progress, fmt::format("round {} of {}", round + 1, rounds));
      std::ranges::shuffle(order, chance);
      for (const std::size_t i : order) {
        const places_run made = run(i);
        samples_[i].seconds.push_back(made.seconds);
        samples_[i].counted = sum_of(samples_[i].counted, made.counted);
      }
    }
  }

  bool add_rows(std::vector<result_row>& rows) const {
    bool is_right = true;
    for (std::size_t i = 0; i < configurations_.size(); ++i) {
      if (samples_[i].is_wrong) {
        is_right = false;
        if (all_.place() == 0) {
          print_error(fmt::format("{}: wrong result '{}' from {}", choice_.label(), samples_[i].result,
                                  describe(configurations_[i], all_.places())));
        }
        continue;
      }
      rows.push_back(make_places_row(choice_, instance_->tasks(), configurations_[i], all_.places(),
                                     samples_[i].seconds, samples_[i].result, samples_[i].counted));
    }
    return is_right;
  }

 private:
  places_run run(std::size_t i) {
    const places_run made = run_once(*instance_, configurations_[i], all_);
    configurations_[i].scheduler.workers = made.workers;
    places_samples& of_this = samples_[i];
    if (of_this.is_wrong) return made;
    of_this.result = instance_->result();
    of_this.is_wrong = !instance_->verify();
    return made;
  }

  void show(progress_line& progress, const std::string& what) const {
    if (all_.place() == 0) progress.show(fmt::format("{}: {}", choice_.label(), what));
  }

  const workload_choice& choice_;
  std::vector<places_configuration> configurations_;
  place_session& all_;
  std::unique_ptr<bench::instance> instance_;
  std::vector<places_samples> samples_;
};

}  // namespace

bool measure_at_places(const workload_choice& choice, const std::vector<places_configuration>& configurations,
                       const sampling_options& options, place_session& all, std::vector<result_row>& rows) {
  places_sampler sampled(choice, configurations, all);
  sampled.take(options);
  return sampled.add_rows(rows);
}

}  // namespace filch::cli
