#include "transfer_bound.hpp"

#include <cmath>
#include <numbers>

namespace filch::cli {

std::optional<double> transfer_constant(std::string_view policy) {
  if (policy == "sender") return 1.0;
  // An idle worker aims at somebody who is busy or not.
  if (policy == "receiver" || policy == "receiver_blocking") return 1 / (1 - 1 / std::numbers::e);
  return std::nullopt;
}

double transfer_step_s(const vm::machine_description& machine, int workers) {
  const bool is_one_socket = workers <= machine.cores_per_socket * machine.threads_per_core;
  const auto farthest = [&](const auto& by_distance) {
    return is_one_socket ? by_distance.same_socket_ns : by_distance.other_socket_ns;
  };
  const double one_way_ns =
      farthest(machine.lines.store_owned) + machine.lines.atomic_extra_ns + farthest(machine.lines.load_owned);
  return 2 * one_way_ns * 1e-9;
}

std::optional<double> transfer_delay_s(const statistics& counted) {
  if (counted.transfer_attempts == 0) return std::nullopt;
  return static_cast<double>(counted.transfer_wait_ns) * 1e-9 / static_cast<double>(counted.transfer_attempts);
}

std::optional<double> transfer_bound_s(const bench::computation& of, int workers, double delay_s, double step_s,
                                       double constant) {
  const double steps = delay_s / step_s;
  if (steps <= 1) return std::nullopt;
  // Constants of the paper: 1 - 2 exp(-k) and k / (1 - 2 exp(-k)) for the k that makes the latter least, some 1.68.
  constexpr double less_of_potential = 0.63;
  constexpr double idle_per_fork = 2.68;
  const double mu = less_of_potential / (constant * steps);
  const double polling = 1 + 1 / (steps - 1);
  const double others = static_cast<double>(workers - 1) / workers;
  const double idle_s = mu / (1 - std::exp(-mu)) *
                        (of.span_s + idle_per_fork * constant * delay_s * static_cast<double>(of.branching_depth));
  return polling * (of.work_s / workers + others * idle_s);
}

}  // namespace filch::cli
