#include "configuration.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filch/combinations.hpp>

#include "option_value.hpp"

namespace filch::cli {

namespace {

constexpr std::array<std::string_view, 6> runner_names{"serial", "filch", "tbb", "tbb-simple", "tbb-static", "openmp"};

// Where a setting was left out, one empty name stands for it: the library then decides.
std::vector<std::string> names_in(std::string_view option, const std::optional<std::string>& text) {
  return text ? parse_list(option, *text) : std::vector<std::string>{std::string{}};
}

const combination* find_policy(std::string_view policy) {
  const auto found = std::ranges::find(combinations(), policy, &combination::policy);
  return found == combinations().end() ? nullptr : &*found;
}

void require_policy(std::string_view policy) {
  std::vector<std::string_view> known;
  std::ranges::transform(combinations(), std::back_inserter(known), &combination::policy);
  require_known("policy", policy, known, fmt::format("policies are {}", fmt::join(known, ", ")));
}

void require_join(std::string_view join) {
  std::vector<std::string_view> known;
  for (const combination& each : combinations()) {
    std::ranges::copy_if(each.joins, std::back_inserter(known),
                         [&](std::string_view name) { return std::ranges::find(known, name) == known.end(); });
  }
  require_known("join", join, known, fmt::format("joins are {}", fmt::join(known, ", ")));
}

void require_combination(std::string_view policy, std::string_view join) {
  const combination* const found = find_policy(policy);
  if (found != nullptr && std::ranges::find(found->joins, join) == found->joins.end()) {
    throw std::invalid_argument(fmt::format("policy '{}' does not go with join '{}'; its joins are {}", policy, join,
                                            fmt::join(found->joins, ", ")));
  }
}

}  // namespace

std::string_view runner_name(bench::runner runner) { return runner_names.at(static_cast<std::size_t>(runner)); }

std::string describe(const configuration& config) {
  if (config.runner == bench::runner::serial) {
    return std::string{runner_name(config.runner)};
  }
  std::string name{runner_name(config.runner)};
  if (config.runner == bench::runner::filch) {
    name += fmt::format("/{}/{}", config.policy, config.join);
  }
  return fmt::format("{} with {} worker{}", name, config.workers, config.workers == 1 ? "" : "s");
}

std::vector<configuration> filch_configurations(const filch_settings& settings) {
  const std::vector<std::string> policies = names_in("--policy", settings.policies);
  const std::vector<std::string> joins = names_in("--join", settings.joins);
  if (settings.policies) {
    std::ranges::for_each(policies, require_policy);
  }
  if (settings.joins) {
    std::ranges::for_each(joins, require_join);
  }
  if (settings.loops) {
    constexpr std::array known{standard_loop};
    for (const std::string& loop : parse_list("--loop", *settings.loops)) {
      require_known("loop", loop, known, fmt::format("the only loop splitting is {}", standard_loop));
    }
  }

  std::vector<configuration> result;
  for (const std::string& policy : policies) {
    for (const std::string& join : joins) {
      if (!join.empty()) {
        require_combination(policy, join);
      }
      for (const int workers : worker_counts(settings.workers, settings.most)) {
        result.push_back({.runner = bench::runner::filch,
                          .workers = workers,
                          .policy = policy,
                          .join = join,
                          .steal_half = settings.steal_half});
      }
    }
  }
  return result;
}

std::vector<int> worker_counts(const std::optional<std::string>& text, int most) {
  if (!text) {
    return {0};
  }
  std::vector<int> counts;
  for (const std::string& element : parse_list("--workers", *text)) {
    counts.push_back(parse_integer("--workers", element, 1, most));
  }
  return counts;
}

std::vector<bench::runner> peer_runners(std::string_view text) {
  constexpr std::array<std::string_view, 5> known{"serial", "tbb", "tbb-simple", "tbb-static", "openmp"};
  std::vector<bench::runner> runners;
  for (const std::string& name : parse_list("--peer", text)) {
    require_known("peer", name, known, fmt::format("peers are {}", fmt::join(known, ", ")));
    const auto index = std::ranges::find(runner_names, name) - runner_names.begin();
    runners.push_back(static_cast<bench::runner>(index));
  }
  return runners;
}

}  // namespace filch::cli
