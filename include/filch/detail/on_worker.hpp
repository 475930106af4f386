// Calls a function on a worker.
#pragma once

#include <utility>

#include <filch/detail/worker_core.hpp>
#include <filch/scheduler.hpp>

namespace filch::detail {

/// An algorithm of many steps enters the default scheduler once, not with each step, if its caller is no worker.
template <class F>
decltype(auto) on_worker(F&& f) {
  if (self == &foreign_worker) [[unlikely]]
    return scheduler::default_scheduler().run(std::forward<F>(f));
  return std::forward<F>(f)();
}

}  // namespace filch::detail
