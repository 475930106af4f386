// A worker that runs something else amid a construct.
#pragma once

#include <utility>

#include "worker/worker.hpp"

namespace filch::detail {

/// What the worker does meanwhile has nothing to do with the construct that it is in.
class outside_of_construct {
 public:
  explicit outside_of_construct(worker& w) noexcept : w_(w), before_(std::exchange(w.steals, {})) {}
  ~outside_of_construct() { w_.steals = std::move(before_); }
  outside_of_construct(const outside_of_construct&) = delete;
  outside_of_construct& operator=(const outside_of_construct&) = delete;

 private:
  worker& w_;
  steal_place before_;
};

}  // namespace filch::detail
