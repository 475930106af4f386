#include <filch/keep_warm.hpp>

#include "scheduler/scheduler_core.hpp"

namespace filch {

keep_warm::keep_warm(scheduler& of) : of_(of) { of_.core().those_asleep().begin_warm(); }

keep_warm::~keep_warm() { of_.core().those_asleep().end_warm(); }

}  // namespace filch
