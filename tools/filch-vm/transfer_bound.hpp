// The bound on the time of work stealing with private deques (Acar, Charguéraud and Rainey 2013, section 3): what the
// paper proves for its model, with this computation's and this machine's figures in it.
#pragma once

#include <optional>
#include <string_view>

#include <filch/statistics.hpp>
#include <filch/vm/simulation.hpp>

#include "span.hpp"

namespace filch::cli {

/// The paper's constant c: how many idle workers' chances it takes that one of them is served. Nothing for policies
/// that the bound is not about.
std::optional<double> transfer_constant(std::string_view policy);

/// The model's time step: a message from one worker to another and back, between the two that are the farthest apart.
/// Each way is a read-modify-write of a line that the other has, and the other's load of it.
double transfer_step_s(const vm::machine_description& machine, int workers);

/// The communication delay, as measured: mean time between two transfer attempts. Nothing if there were none.
std::optional<double> transfer_delay_s(const statistics& counted);

/// The bound on the expected time. Nothing where the model does not apply: it needs a delay longer than a step.
std::optional<double> transfer_bound_s(const bench::computation& of, int workers, double delay_s, double step_s,
                                       double constant);

}  // namespace filch::cli
