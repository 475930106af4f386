// The task farm of one process: it runs the newest task first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "task_farm.hpp"
#include "task_list.hpp"

namespace filch::bench {

class lone_farm final : public task_farm {
 public:
  void run(task_bytes first, const body& run) override {
    tasks_.begin(first.size());
    tasks_.add(first);
    while (!tasks_.empty()) run(tasks_.take_newest());
  }
  void add(task_bytes task) override { tasks_.add(task); }
  void combine(std::span<std::uint64_t> /*sums*/, std::span<double> /*maxima*/) override {}

 private:
  task_list tasks_;
};

}  // namespace filch::bench
