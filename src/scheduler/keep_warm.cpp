#include <filch/keep_warm.hpp>

#include "scheduler/scheduler_core.hpp"

namespace filch {

keep_warm::keep_warm(scheduler& of) : of_(of) { of_.core().idle_workers().begin_warm(); }

keep_warm::~keep_warm() { of_.core().idle_workers().end_warm(); }

}  // namespace filch
