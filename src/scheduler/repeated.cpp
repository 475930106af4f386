#include <filch/repeated.hpp>

#include "worker/policy.hpp"
#include "worker/task_trace.hpp"
#include "worker/worker.hpp"

namespace filch {

repeated::repeated(unsigned int relaxed_iterations)
    : trace_(std::make_unique<detail::task_trace>(relaxed_iterations)) {}

repeated::~repeated() = default;

void repeated::forget() noexcept { trace_->forget(); }

bool repeated::is_traced() noexcept {
  const auto& w = static_cast<const detail::worker&>(*detail::self);
  return w.common.policy.follows_traces() && w.common.workers > 1 && w.place.path.trace == nullptr;
}

namespace detail {

iteration::iteration(task_trace& trace, const void* frame) : trace_(&trace), unwinding_(*self->in_flight) {
  auto& w = static_cast<worker&>(*self);
  if (!trace.begin(w, frame)) {
    trace_ = nullptr;
    return;
  }
  w.place.path = {.trace = &trace, .id = task_trace::root()};
  w.diverts = true;
  w.raise();
}

iteration::~iteration() {
  if (trace_ == nullptr) return;
  worker_core& w = *self;
  w.place.path = {};
  w.diverts = false;  // its attention stays raised, until it answers
  trace_->end(*w.in_flight > unwinding_);
}

}  // namespace detail
}  // namespace filch
