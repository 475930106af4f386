// trace: what the workers did, and when, as a picture: a file for Perfetto (ui.perfetto.dev) or chrome://tracing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <filch/config.hpp>
#include <filch/scheduler.hpp>

namespace filch {

/// Records what the workers of a scheduler do while it exists, and writes that when it ends. For a program as it is:
/// FILCH_TRACE=file records all schedulers from their start, and writes when the process exits.
///
/// In the file are, for each worker: tasks that it has taken from others, with the number of the worker from which (forks that
/// nobody takes are function calls, and not recorded); what named() names; `run()`; searching (idle), waiting and sleeping;
/// and when it has offered something. Of each worker the newest 65,536 events are kept, 2 MiB. FILCH_TRACE keeps the newest of
/// those schedulers that have ended: as many as have 524,288 events together (20 MiB), and always the last one. An event costs
/// two looks at the clock, about 50 ns; a scheduler that is not recorded pays for none.
///
/// Thread safety: one thread at a time. Tasks may run when it begins and ends; what is in progress then is left out.
class FILCH_API trace {
 public:
  /// @throws std::invalid_argument when the file cannot be written; std::logic_error when the scheduler is recorded already;
  ///         std::bad_alloc.
  trace(scheduler& of, std::string file);
  /// Stops, and writes; if that fails, says so on the standard error output. Call write() to know.
  ~trace();
  trace(const trace&) = delete;
  trace& operator=(const trace&) = delete;

  /// Stops, and writes the file, once. @throws std::runtime_error when it cannot be written; std::bad_alloc.
  void write();

 private:
  scheduler* of_;  ///< null: it is written
  std::string file_;
};

namespace detail {

/// A span of the calling worker's trace, while it exists.
class FILCH_API named_span {
 public:
  explicit named_span(const char* name) noexcept;
  ~named_span();
  named_span(const named_span&) = delete;
  named_span& operator=(const named_span&) = delete;

 private:
  const char* name_;
  std::int64_t since_ns_;  ///< 0: nothing is recorded
  // Before it began, if it is profiled.
  bool is_profiled_ = false;
  std::int64_t work_ns_ = 0;
  std::int64_t path_ns_ = 0;
};

template <class F>
struct named_callable {
  const char* name;
  F own;

  template <class... Args>
    requires std::is_invocable_v<F&, Args...>
  decltype(auto) operator()(Args&&... args) {
    const named_span here(name);
    return std::invoke(own, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::is_invocable_v<const F&, Args...>
  decltype(auto) operator()(Args&&... args) const {
    const named_span here(name);
    return std::invoke(own, std::forward<Args>(args)...);
  }
};

}  // namespace detail

/// A callable that does what f does, and is called that in traces and profiles: `group.run(filch::named("read", [&] { ... }))`.
/// @param name  a literal in UTF-8: traces keep its address. 1 ns for each call when nothing is recorded.
template <std::size_t N, class F>
[[nodiscard]] auto named(const char (&name)[N], F&& f) {
  return detail::named_callable<std::decay_t<F>>{name, std::forward<F>(f)};
}

}  // namespace filch
