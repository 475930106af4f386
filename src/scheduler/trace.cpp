#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

#include <filch/trace.hpp>

#include "scheduler/scheduler_core.hpp"
#include "scheduler/trace_file.hpp"
#include "worker/profile_recorder.hpp"
#include "worker/worker.hpp"

namespace filch {

trace::trace(scheduler& of, std::string file) : of_(&of), file_(detail::writable_path(std::move(file), "the trace")) {
  of.core().begin_recording();
}

trace::~trace() {
  try {
    write();
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "%s\n", error.what()));
  }
}

void trace::write() {
  if (of_ == nullptr) return;
  detail::scheduler_core& core = std::exchange(of_, nullptr)->core();
  core.end_recording();
  detail::write_trace(file_, {core.recorded()});
}

namespace detail {

named_span::named_span(const char* name) noexcept : name_(name), since_ns_(0) {
  const worker* const w = worker::of_this_thread();
  if (w == nullptr) return;
  since_ns_ = w->trace.begin();
  if (!w->profile) return;
  const auto [work_ns, path_ns] = w->profile->begin_part(name);
  is_profiled_ = true;
  work_ns_ = work_ns;
  path_ns_ = path_ns;
}

named_span::~named_span() {
  if (since_ns_ == 0 && !is_profiled_) return;
  auto& w = static_cast<worker&>(*self);
  const busy_section here(w);  // an interrupt may note something, too
  w.trace.end(name_, since_ns_, 0);
  if (is_profiled_) w.profile->end_part(name_, {work_ns_, path_ns_});
}

}  // namespace detail
}  // namespace filch
