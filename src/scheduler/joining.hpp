// Waiting for tasks, for the constructs that do it.
#pragma once

#include <filch/detail/worker_core.hpp>

#include "worker/worker.hpp"

namespace filch::detail {

/// Waits until a taken task is done and helps with it meanwhile. `reclaimed`: nobody had begun it, and it is the
/// owner's again, who has to run it.
join_result wait_for(worker& w, task& t) noexcept;

/// Joins an offered task without taking it off the stack, where newer ones may lie above it.
join_result join_in_place(worker& w, slot& s) noexcept;

}  // namespace filch::detail
