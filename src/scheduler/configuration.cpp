#include "scheduler/configuration.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <filch/combinations.hpp>

#include "platform/usable.hpp"
#include "policy/table.hpp"
#include "scheduler/process_profile.hpp"
#include "scheduler/process_schedule.hpp"
#include "victim/random_victim.hpp"
#include "worker/patience.hpp"

namespace filch::detail {
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

const policy_row& row_of(std::string_view policy) {
  return *std::ranges::find_if(policy_table(), [&](const policy_row& each) { return each.name == policy; });
}

bool are_workers_said(const options& chosen) { return chosen.workers != 0 || !environment("FILCH_WORKERS").empty(); }

int workers_of(const options& chosen, int otherwise, int processors) {
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
  if (workers != 0) return workers;
  return otherwise != 0 ? otherwise : std::min(processors, most_workers);
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

/// Of a join or a way to split loops.
[[noreturn]] void reject_name(const said& name, bool is_known, const combination& with, const std::string& others) {
  const std::string why =
      is_known ? " does not go with policy '" + std::string(with.policy) + "'" : std::string(" is unknown");
  reject(name.where + " '" + name.value + "'" + why + "; use one of " + others);
}

std::string join_of(const said& join, const combination& with) {
  if (std::find(with.joins.begin(), with.joins.end(), join.value) == with.joins.end()) {
    const auto& joins = join_table();
    const bool is_known = std::any_of(joins.begin(), joins.end(), [&](const auto& j) { return j.name == join.value; });
    reject_name(join, is_known, with, listed(with.joins, [](std::string_view name) { return std::string(name); }));
  }
  return join.value;
}

/// An option that is a number.
struct number_option {
  const char* name;
  const char* variable;
  const char* what;  ///< a value out of range is none
  std::int64_t least;
  std::int64_t most;
  const char* unit;
  std::int64_t otherwise;
};
constexpr std::int64_t longest_interval_ns = 1'000'000'000;
constexpr const char* nanoseconds = " nanoseconds";
constexpr number_option deal_interval{"deal_interval_ns",
                                      "FILCH_DEAL_INTERVAL_NS",
                                      "time between two deals",
                                      1,
                                      longest_interval_ns,
                                      nanoseconds,
                                      30'000};
constexpr number_option interrupt_after{"interrupt_after_ns",
                                        "FILCH_INTERRUPT_AFTER_NS",
                                        "time to wait before an interrupt",
                                        0,
                                        longest_interval_ns,
                                        nanoseconds,
                                        0};
constexpr number_option interrupt_every{"interrupt_every_ns",
                                        "FILCH_INTERRUPT_EVERY_NS",
                                        "time between two interrupts",
                                        0,
                                        longest_interval_ns,
                                        nanoseconds,
                                        0};
// The time of patience::spin_ns, unless the program says more.
constexpr number_option spin{"spin_ns",   "FILCH_SPIN_NS",  "time to spin before a sleep", 0, longest_interval_ns,
                             nanoseconds, patience::spin_ns};
constexpr number_option level_attempts{
    "level_attempts", "FILCH_LEVEL_ATTEMPTS", "number of attempts at a level", 1, 1'000'000, "", 8};

void require(std::string_view option, const std::string& said, const combination& policy) {
  if (goes_with(option, policy)) return;
  reject(said + " does not go with policy '" + std::string(policy.policy) + "'; use policy " + policies_with(option));
}

std::int64_t number_of(const number_option& option, std::optional<std::int64_t> chosen, const combination& policy) {
  const auto check = [&](std::int64_t number, const std::string& where, const std::string& text) {
    if (number < option.least || number > option.most) {
      reject(where + " '" + text + "' is no " + option.what + "; use " + std::to_string(option.least) + " to " +
             std::to_string(option.most) + option.unit);
    }
    return number;
  };
  if (chosen) {
    const std::string text = std::to_string(*chosen);
    require(option.name, std::string(option.name) + " '" + text + "'", policy);
    return check(*chosen, option.name, text);
  }
  const bool suits = goes_with(option.name, policy);
  const std::string text = environment(option.variable);
  if (text.empty()) return suits ? option.otherwise : 0;
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || rest != text.data() + text.size()) number = -1;
  // A mistake is told also to a policy that has no use for the number: the next one may have.
  check(number, option.variable, text);
  return suits ? number : 0;
}

loop_kind loop_of(const said& loop, const combination& with) {
  const loop_kind kind = loop_named(loop.value);
  if (std::find(with.loops.begin(), with.loops.end(), kind) == with.loops.end()) {
    reject_name(loop, kind != loop_kind::inherited, with,
                listed(with.loops, [](loop_kind each) { return std::string(name_of(each)); }));
  }
  return kind;
}

platform::pinning pinning_of(const said& pinning) {
  const auto& names = platform::pinning_names;
  const auto found = std::find(names.begin(), names.end(), pinning.value);
  if (found == names.end()) {
    reject(pinning.where + " '" + pinning.value + "' is unknown; use one of " +
           listed(names, [](std::string_view name) { return std::string(name); }));
  }
  return static_cast<platform::pinning>(found - names.begin());
}

/// With that policy, and of what the program asks for only what goes with all of them.
options of_the_program(const options& asked_for, std::string_view policy) {
  const combination& with = policy_of({std::string(policy), "policy"});
  return {.workers = asked_for.workers,
          .policy = std::string(policy),
          .join = std::string(with.default_join),
          .loop = std::string(name_of(with.default_loop)),
          .stack_bytes = asked_for.stack_bytes,
          .on_start = asked_for.on_start,
          .on_stop = asked_for.on_stop};
}

}  // namespace

configuration configure(const options& asked_for) {
  options chosen = asked_for;
  if (process_profile::is_asked_for() && process_schedule::is_asked_for()) {
    reject("FILCH_PROFILE is set beside FILCH_RECORD or FILCH_REPLAY; profile the program, or record or replay it");
  }
  if (process_profile::is_asked_for()) {
    // Profiles are of the program in its own order, whatever it asks for.
    chosen = of_the_program(asked_for, "serial");
  } else if (process_schedule::is_asked_for()) {
    chosen = of_the_program(asked_for, "constrained");
    if (chosen.workers == 0 && environment("FILCH_WORKERS").empty())
      chosen.workers = process_schedule::recorded_workers();
  }
  const combination& policy = policy_of(choice(chosen.policy, "FILCH_POLICY", "policy", combinations().front().policy));
  const std::string join = join_of(choice(chosen.join, "FILCH_JOIN", "join", policy.default_join), policy);
  const loop_kind loop = loop_of(choice(chosen.loop, "FILCH_LOOP", "loop", name_of(policy.default_loop)), policy);
  if (chosen.steal_half) require("steal_half", "steal_half", policy);
  if (chosen.push_half) require("push_half", "push_half", policy);
  if (chosen.stack_bytes < least_stack_bytes || chosen.stack_bytes > most_stack_bytes) {
    reject("stack_bytes '" + std::to_string(chosen.stack_bytes) + "' is out of range; use " +
           std::to_string(least_stack_bytes) + " to " + std::to_string(most_stack_bytes));
  }
  const int processors = platform::usable_workers();
  const int workers = workers_of(chosen, row_of(policy.policy).default_workers, processors);
  return {workers,
          std::string(policy.policy),
          join,
          loop,
          chosen.steal_half,
          chosen.push_half,
          pinning_of(choice(chosen.pinning, "FILCH_PINNING", "pinning", name_of(platform::pinning::none))),
          number_of(deal_interval, chosen.deal_interval_ns, policy),
          number_of(level_attempts, chosen.level_attempts, policy),
          number_of(interrupt_after, chosen.interrupt_after_ns, policy),
          number_of(interrupt_every, chosen.interrupt_every_ns, policy),
          number_of(spin, chosen.spin_ns, policy),
          chosen.stack_bytes,
          chosen.on_start,
          chosen.on_stop,
          are_workers_said(chosen),
          processors < workers ? processors : 0};
}

std::unique_ptr<policy> make_policy(const configuration& chosen) {
  const auto join = std::find_if(join_table().begin(), join_table().end(),
                                 [&](const join_row& each) { return each.name == chosen.join; });
  return row_of(chosen.policy)
      .make({.victims = std::make_unique<random_victim>(),
             .join = join->make(),
             .loop = chosen.loop,
             .workers = chosen.workers,
             .steal_half = chosen.steal_half,
             .push_half = chosen.push_half,
             .deal_interval_ns = chosen.deal_interval_ns,
             .level_attempts = static_cast<std::uint32_t>(chosen.level_attempts)});
}

}  // namespace filch::detail
