// What workloads of places share: tasks for any place, priced, and a line of memory for each worker of a place.
#pragma once

#include <utility>

#include <filch/places.hpp>
#include <filch/vm.hpp>

namespace filch::bench {

/// Price of making and ending one task on the virtual machine, as for the tasks of other workloads.
inline vm::work place_task("spawn");

template <class F>
void spawn_anywhere(F&& f) {
  place_task.done();
  places::async_any(std::forward<F>(f));
}

/// What each worker of a place has for itself.
template <class T>
struct alignas(64) own_line {
  T value{};
};

}  // namespace filch::bench
