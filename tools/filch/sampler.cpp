#include "sampler.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "counters.hpp"

namespace filch::cli {

sampler::sampler(bench::instance& instance, std::string label, executor& serial, const std::vector<executor*>& others)
    : instance_(instance), label_(std::move(label)), executors_{&serial}, samples_(others.size() + 1), order_(1) {
  executors_.insert(executors_.end(), others.begin(), others.end());
}

void sampler::take(const sampling_options& options, progress_line& progress) {
  const indices active = warm_up(options, progress);
  int rounds = options.rounds;
  if (rounds == 0) {
    const double fitting = std::min<double>(options.budget_s / round_s_, options.most_rounds);
    rounds = std::max(static_cast<int>(fitting), options.least_rounds);
  }
  for (int i = 0; i < rounds; ++i) {
    progress.show(fmt::format("{}: round {} of {}", label_, i + 1, rounds));
    take_round(active);
  }
  progress.clear();
}

// Returns who takes part in the rounds besides the serial run.
sampler::indices sampler::warm_up(const sampling_options& options, progress_line& progress) {
  indices active;
  double serial_s = 0;
  for (std::size_t i = 0; i < executors_.size(); ++i) {
    progress.show(fmt::format("{}: warming up {}", label_, describe(executors_[i]->config())));
    const double seconds = run_once(i);
    if (i == 0) {
      serial_s = seconds;
    } else if (seconds > options.once_above_s) {
      record(i, seconds, serial_s);
      continue;
    } else {
      active.push_back(i);
    }
    // Counters of a run that does not count.
    samples_[i].counters.reset();
    round_s_ += seconds;
  }
  return active;
}

void sampler::take_round(indices active) {
  std::ranges::shuffle(active, order_);
  const std::size_t blocks = std::max<std::size_t>(1, (active.size() + block_size - 1) / block_size);
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto at = [&](std::size_t block) {
      return active.begin() + static_cast<std::ptrdiff_t>(block * active.size() / blocks);
    };
    take_block(indices(at(i), at(i + 1)));
  }
}

void sampler::take_block(indices members) {
  members.push_back(0);
  std::ranges::shuffle(members, order_);
  std::vector<double> seconds(executors_.size());
  for (const std::size_t index : members) {
    seconds[index] = run_once(index);
  }
  for (const std::size_t index : members) {
    record(index, seconds[index], seconds[0]);
  }
}

double sampler::run_once(std::size_t index) {
  executor& who = *executors_[index];
  instance_.prepare();
  const std::optional<statistics> before = who.counters();
  const double seconds = who.run(instance_);
  const std::optional<statistics> after = who.counters();
  if (before && after) {
    std::optional<statistics>& sum = samples_[index].counters;
    add_difference(sum ? *sum : sum.emplace(), *before, *after);
  }
  check(index);
  who.settle();
  return seconds;
}

void sampler::record(std::size_t index, double seconds, double serial_seconds) {
  samples_[index].seconds.push_back(seconds);
  samples_[index].ratios.push_back(seconds / serial_seconds);
}

void sampler::check(std::size_t index) {
  samples& of_this = samples_[index];
  of_this.result = instance_.result();
  if (of_this.is_wrong || instance_.verify()) {
    return;
  }
  of_this.is_wrong = true;
  const std::string expected =
      index == 0 ? "the serial run itself does not verify" : fmt::format("the serial run gave '{}'", serial().result);
  errors_.push_back(fmt::format("{}: wrong result '{}' from {}; {}", label_, of_this.result,
                                describe(executors_[index]->config()), expected));
}

}  // namespace filch::cli
