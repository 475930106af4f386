#include "scheduler/configuration.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <filch/combinations.hpp>
#include <filch/topology.hpp>

#include "join/leapfrog.hpp"
#include "join/random_join.hpp"
#include "join/transitive.hpp"
#include "platform/usable.hpp"
#include "policy/chase_lev.hpp"
#include "policy/lace.hpp"
#include "victim/random_victim.hpp"

namespace filch {
namespace {

using platform::most_workers;
constexpr std::size_t least_stack_bytes = 4096;
constexpr std::size_t most_stack_bytes = std::size_t{64} << 20;

template <class Names, class Name>
std::string listed(const Names& names, Name name) {
  std::string text;
  for (const auto& each : names) {
    if (!text.empty()) text += ", ";
    text += name(each);
  }
  return text;
}

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string{} : std::string{value};
}

[[noreturn]] void reject(const std::string& message) { throw std::invalid_argument("filch: " + message); }

int workers_of(const options& chosen) {
  const std::string remedy = "; use 1 to " + std::to_string(most_workers) + ", or 0 for all this process may use";
  if (chosen.workers != 0) {
    if (chosen.workers < 0 || chosen.workers > most_workers) {
      reject("workers '" + std::to_string(chosen.workers) + "' is out of range" + remedy);
    }
    return chosen.workers;
  }
  const std::string text = environment("FILCH_WORKERS");
  int workers = 0;
  if (!text.empty()) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), workers);
    if (error != std::errc{} || rest != text.data() + text.size() || workers < 0 || workers > most_workers) {
      reject("FILCH_WORKERS '" + text + "' is no worker count" + remedy);
    }
  }
  return workers != 0 ? workers : std::min(discover_topology().usable_workers, most_workers);
}

/// What the user said, or else the environment, or else the default; and where it was said, for messages.
struct said {
  std::string value;
  std::string where;
};

said choice(const std::string& option, const char* variable, std::string_view name, std::string_view otherwise) {
  if (!option.empty()) return {option, std::string(name)};
  if (std::string value = environment(variable); !value.empty()) return {std::move(value), variable};
  return {std::string(otherwise), std::string(name)};
}

const combination& policy_of(const said& policy) {
  const auto& all = combinations();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.policy == policy.value; });
  if (found == all.end()) {
    reject(policy.where + " '" + policy.value + "' is unknown; use one of " +
           listed(all, [](const auto& c) { return std::string(c.policy); }));
  }
  return *found;
}

std::string join_of(const said& join, const combination& with) {
  if (std::find(with.joins.begin(), with.joins.end(), join.value) == with.joins.end()) {
    reject(join.where + " '" + join.value + "' does not go with policy '" + std::string(with.policy) +
           "'; use one of " + listed(with.joins, [](std::string_view name) { return std::string(name); }));
  }
  return join.value;
}

std::unique_ptr<join_strategy> make_join(std::string_view name) {
  if (name == "leapfrog") return std::make_unique<leapfrog>();
  if (name == "random") return std::make_unique<random_join>();
  return std::make_unique<transitive>();
}

}  // namespace

const std::vector<combination>& combinations() {
  static const std::vector<combination> table{
      {"standard", {"transitive", "leapfrog", "random"}, "transitive", "the default: lace with safe waits"},
      {"lace", {"transitive", "leapfrog", "random"}, "transitive", "split deque in the task stack (Lace, 2014)"},
      {"chase_lev", {"transitive", "leapfrog", "random"}, "transitive", "every task visible at once (Chase-Lev, 2005)"},
  };
  return table;
}

configuration configure(const options& chosen) {
  const combination& policy = policy_of(choice(chosen.policy, "FILCH_POLICY", "policy", "standard"));
  const std::string join = join_of(choice(chosen.join, "FILCH_JOIN", "join", policy.default_join), policy);
  if (chosen.steal_half && policy.policy == "chase_lev") {
    reject("steal_half does not go with policy 'chase_lev'; use policy lace or standard");
  }
  if (chosen.stack_bytes < least_stack_bytes || chosen.stack_bytes > most_stack_bytes) {
    reject("stack_bytes '" + std::to_string(chosen.stack_bytes) + "' is out of range; use " +
           std::to_string(least_stack_bytes) + " to " + std::to_string(most_stack_bytes));
  }
  return {workers_of(chosen), std::string(policy.policy), join, chosen.steal_half, chosen.stack_bytes};
}

std::unique_ptr<policy> make_policy(const configuration& chosen) {
  auto victims = std::make_unique<random_victim>();
  auto joins = make_join(chosen.join);
  if (chosen.policy == "chase_lev") return std::make_unique<chase_lev>(std::move(victims), std::move(joins));
  return std::make_unique<lace>(std::move(victims), std::move(joins), chosen.steal_half);
}

}  // namespace filch
