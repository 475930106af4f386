#include "configuration.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filch/combinations.hpp>

#include "option_value.hpp"

namespace filch::cli {

namespace {

constexpr std::array<std::string_view, 11> runner_names{"serial",         "filch",        "tbb",     "tbb-simple",
                                                        "tbb-static",     "tbb-affinity", "openmp",  "openmp-static",
                                                        "openmp-dynamic", "mpi",          "analysed"};

// Where a setting was left out, one empty name stands for it: the library then decides.
std::vector<std::string> names_in(std::string_view option, const std::optional<std::string>& text) {
  return text ? parse_list(option, *text) : std::vector<std::string>{std::string{}};
}

// As the table names them, each once.
std::vector<std::string_view> known_joins() {
  std::vector<std::string_view> known;
  for (const combination& each : combinations()) {
    std::ranges::copy_if(each.joins, std::back_inserter(known),
                         [&](std::string_view name) { return std::ranges::find(known, name) == known.end(); });
  }
  return known;
}

std::vector<std::string_view> names_of(const std::vector<loop_kind>& loops) {
  std::vector<std::string_view> names;
  std::ranges::transform(loops, std::back_inserter(names), name_of);
  return names;
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
  const std::vector<std::string_view> known = known_joins();
  require_known("join", join, known, fmt::format("joins are {}", fmt::join(known, ", ")));
}

void require_loop(std::string_view loop) {
  std::vector<std::string_view> known;
  std::ranges::transform(ways_to_split(), std::back_inserter(known), &way_to_split::name);
  const std::string remedy = fmt::format("loops are {}", fmt::join(known, ", "));
  std::ranges::transform(ways_to_split(), std::back_inserter(known), &way_to_split::type);
  require_known("loop", loop, known, remedy);
}

void require_pinning(std::string_view pinning) {
  constexpr std::array<std::string_view, 3> known{"none", "compact", "scatter"};
  require_known("pinning", pinning, known, fmt::format("pinnings are {}", fmt::join(known, ", ")));
}

// `kind` is what `name` and `suitable` are: "join" or "loop".
void require_suitable(std::string_view policy, std::string_view kind, std::string_view name,
                      const std::vector<std::string_view>& suitable) {
  if (std::ranges::find(suitable, name) == suitable.end()) {
    throw std::invalid_argument(fmt::format("policy '{}' does not go with {} '{}'; its {}s are {}", policy, kind, name,
                                            kind, fmt::join(suitable, ", ")));
  }
}

// What was left open is checked by the library, which knows the environment as well.
void require_combination(std::string_view policy, std::string_view join, std::string_view loop) {
  const combination* const found = find_policy(policy);
  if (found == nullptr) {
    return;
  }
  if (!join.empty()) {
    require_suitable(policy, "join", join, found->joins);
  }
  if (!loop.empty()) {
    require_suitable(policy, "loop", loop, names_of(found->loops));
  }
}

// All names of a setting, none of which is unknown.
std::vector<std::string> checked_names(std::string_view option, const std::optional<std::string>& text,
                                       void (&require)(std::string_view)) {
  std::vector<std::string> names = names_in(option, text);
  if (text) {
    std::ranges::for_each(names, require);
  }
  return names;
}

// The names of ways to split loops that are known, also where their types are named.
std::vector<std::string> loop_names(std::string_view option, const std::optional<std::string>& text) {
  std::vector<std::string> names;
  for (const std::string& said : checked_names(option, text, require_loop)) {
    std::string name{name_of(loop_named(said))};
    if (std::ranges::find(names, name) != names.end()) {
      throw std::invalid_argument(fmt::format("{} '{}' names '{}' twice; name it once", option, *text, said));
    }
    names.push_back(std::move(name));
  }
  return names;
}

// That the library decides for, where none is named.
std::string policy_otherwise() {
  const char* const value = std::getenv("FILCH_POLICY");
  return value == nullptr || *value == '\0' ? std::string{combinations().front().policy} : value;
}

/// A number for those policies that it means something to; so they can be compared with others.
class number_option {
 public:
  /// `name`: of the member of filch::options.
  number_option(std::string_view option, const std::optional<std::string>& text, int least, int most,
                const std::vector<std::string>& policies, std::string_view name)
      : name_(name) {
    if (!text) {
      return;
    }
    number_ = parse_integer(option, *text, least, most);
    std::vector<std::string> named = policies;
    std::ranges::replace(named, std::string{}, policy_otherwise());
    if (std::ranges::none_of(named, [&](const std::string& policy) { return may_use(name, policy); })) {
      throw std::invalid_argument(fmt::format("{} '{}' does not go with policy '{}'; use policy {}", option, *text,
                                              fmt::join(named, ","), policies_with(name)));
    }
  }
  [[nodiscard]] std::optional<int> of(const std::string& policy) const {
    return may_use(name_, policy) ? number_ : std::nullopt;
  }

 private:
  std::string_view name_;
  std::optional<int> number_;
};

}  // namespace

options options_of(const configuration& config) {
  return {.workers = config.workers,
          .policy = config.policy,
          .join = config.join,
          .loop = config.loop,
          .steal_half = config.steal_half,
          .push_half = config.push_half,
          .deal_interval_ns = config.deal_interval_ns,
          .level_attempts = config.level_attempts,
          .interrupt_after_ns = config.interrupt_after_ns,
          .interrupt_every_ns = config.interrupt_every_ns,
          .spin_ns = config.spin_ns,
          .pinning = config.pinning};
}

void fill_in(configuration& config, const scheduler& made) {
  config.policy = made.policy();
  config.join = made.join();
  config.loop = made.loop();
  config.pinning = made.pinning();
  config.spin_ns = made.spin_ns();
  if (may_use(deal_interval, config.policy)) config.deal_interval_ns = made.deal_interval_ns();
  if (may_use(level_attempts, config.policy)) config.level_attempts = made.level_attempts();
  if (may_use(interrupt_after, config.policy)) config.interrupt_after_ns = made.interrupt_after_ns();
  if (may_use(interrupt_every, config.policy)) config.interrupt_every_ns = made.interrupt_every_ns();
}

std::string_view runner_name(bench::runner runner) { return runner_names.at(static_cast<std::size_t>(runner)); }

std::string describe(const configuration& config) {
  if (config.runner == bench::runner::serial || config.runner == bench::runner::analysed) {
    return std::string{runner_name(config.runner)};
  }
  std::string name{runner_name(config.runner)};
  if (config.runner == bench::runner::filch) {
    name += fmt::format("/{}/{}/{}", config.policy, config.join, config.loop);
  }
  return fmt::format("{} with {} worker{}", name, config.workers, config.workers == 1 ? "" : "s");
}

// A policy that was left open is the library's to check.
bool may_use(std::string_view option, std::string_view policy) {
  const combination* const found = find_policy(policy);
  return found == nullptr || goes_with(option, *found);
}

std::vector<configuration> filch_configurations(const filch_settings& settings) {
  const std::vector<std::string> policies = checked_names("--policy", settings.policies, require_policy);
  const std::vector<std::string> joins = checked_names("--join", settings.joins, require_join);
  const std::vector<std::string> loops = loop_names("--loop", settings.loops);
  if (settings.pinning) {
    require_pinning(*settings.pinning);
  }
  const std::vector<int> workers = worker_counts(settings.workers, settings.most);
  constexpr int most_ns = 1'000'000'000;
  constexpr int most_attempts = 1'000'000;
  const number_option delta("--delta", settings.delta, 1, most_ns, policies, deal_interval);
  const number_option every("--interrupt-every", settings.interrupt_every, 0, most_ns, policies, interrupt_every);
  const number_option after("--interrupt-after", settings.interrupt_after, 0, most_ns, policies, interrupt_after);
  const number_option spin("--spin", settings.spin, 0, most_ns, policies, "spin_ns");
  const number_option attempts("--level-attempts", settings.level_attempts, 1, most_attempts, policies, level_attempts);

  std::vector<configuration> result;
  for (const std::string& policy : policies) {
    for (const std::string& join : joins) {
      for (const std::string& loop : loops) {
        require_combination(policy, join, loop);
        for (const int count : workers) {
          result.push_back({.runner = bench::runner::filch,
                            .workers = count,
                            .policy = policy,
                            .join = join,
                            .loop = loop,
                            .steal_half = settings.steal_half,
                            .push_half = settings.push_half,
                            .pinning = settings.pinning.value_or(""),
                            .deal_interval_ns = delta.of(policy),
                            .level_attempts = attempts.of(policy),
                            .spin_ns = spin.of(policy),
                            .interrupt_after_ns = after.of(policy),
                            .interrupt_every_ns = every.of(policy)});
        }
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
  constexpr std::array<std::string_view, 9> known{
      "serial", "tbb", "tbb-simple", "tbb-static", "tbb-affinity", "openmp", "openmp-static", "openmp-dynamic", "mpi"};
  std::vector<bench::runner> runners;
  for (const std::string& name : parse_list("--peer", text)) {
    require_known("peer", name, known, fmt::format("peers are {}", fmt::join(known, ", ")));
    const auto index = std::ranges::find(runner_names, name) - runner_names.begin();
    runners.push_back(static_cast<bench::runner>(index));
  }
  return runners;
}

}  // namespace filch::cli
