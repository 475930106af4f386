#include "places/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "scheduler/configuration.hpp"

namespace filch::detail::places {
namespace {

[[noreturn]] void reject(const std::string& message) { throw std::invalid_argument("filch: " + message); }

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string{} : std::string{value};
}

int in_range(const std::string& name, int value, int least, int most) {
  if (value >= least && value <= most) return value;
  reject(name + " '" + std::to_string(value) + "' is out of range; use " + std::to_string(least) + " to " +
         std::to_string(most));
}

/// What places_options.hpp allows of one steal.
constexpr int most_tasks = 5;
/// The largest of what has no limit of its own: more than any program has, and far from an overflow.
constexpr int many = 1'000'000'000;

int tasks_per_shipment(int chosen) {
  if (chosen != 0) return in_range("tasks_per_shipment", chosen, 1, most_tasks);
  const std::string text = environment("FILCH_PLACES_SHIPMENT");
  if (text.empty()) return 1;
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) {
    reject("FILCH_PLACES_SHIPMENT '" + text + "' is no number; use 1 to " + std::to_string(most_tasks));
  }
  return in_range("FILCH_PLACES_SHIPMENT", value, 1, most_tasks);
}

}  // namespace

bool is_dedicated(const filch::places::options& chosen) {
  std::string where = "communication";
  std::string value = chosen.communication;
  if (value.empty()) {
    where = "FILCH_PLACES_COMMUNICATION";
    value = environment("FILCH_PLACES_COMMUNICATION");
  }
  if (value.empty() || value == "shared") return false;
  if (value == "dedicated") return true;
  reject(where + " '" + value + "' is unknown; use one of: shared, dedicated");
}

int workers_of(const filch::places::options& chosen, int sharers) {
  const int workers = configure(chosen.scheduler).workers;
  if (chosen.scheduler.workers != 0 || !environment("FILCH_WORKERS").empty()) return workers;
  // Nobody has said how many. A thread that communicates has a processor of its own.
  return std::max(workers / sharers - (is_dedicated(chosen) ? 1 : 0), 1);
}

std::string policy_of(const filch::places::options& chosen) {
  if (!chosen.policy.empty()) return chosen.policy;
  std::string value = environment("FILCH_PLACES_POLICY");
  return value.empty() ? "success_only" : value;
}

steal_site::settings settings_of(const filch::places::options& chosen, int workers) {
  // With more, one idle worker is no sign that the place is short of tasks: docs/protocols/success-only.md.
  constexpr int many_workers = 12;
  const int threads = workers + (is_dedicated(chosen) ? 1 : 0);
  return {
      .tasks_per_shipment = tasks_per_shipment(chosen.tasks_per_shipment),
      .threshold = chosen.threshold == -1 ? 2 * threads : in_range("threshold", chosen.threshold, 0, many),
      .idle_workers = chosen.idle_workers == 0 ? (workers > many_workers ? 3 : 1)
                                               : in_range("idle_workers", chosen.idle_workers, 1, workers),
      .attempts = in_range("attempts", chosen.attempts, 0, many),
      .cyclic_steals = chosen.cyclic_steals,
  };
}

}  // namespace filch::detail::places
