// A task of a repeated part, for those who follow its trace.
#pragma once

#include <cstdint>

#include <filch/detail/task.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

class task_trace;

/// A task of a repeated part that lies on a stack: what its slot would hold elsewhere, and who it is.
struct traced_task {
  platform::shared<task_function> run;
  platform::shared<std::uint64_t> id;
  platform::shared<task_trace*> trace;
};

}  // namespace filch::detail
