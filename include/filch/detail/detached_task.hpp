// A task that is not on any task stack: docs/protocols/injector.md.
#pragma once

#include <cstdint>

#include <filch/detail/task.hpp>

namespace filch::detail {

class group_rest;

struct detached_task : task {
  group_rest* home = nullptr;
  std::uint64_t order = 0;        ///< place in the group's spawn order
  detached_task* next = nullptr;  ///< in the group's queue or list of taken tasks
  detached_task* previous = nullptr;
};

}  // namespace filch::detail
