// The platform seam, part two, on the virtual machine: the world is told what the program's own work costs.
#pragma once

#include <concepts>
#include <cstddef>

#include "vm/world.hpp"

namespace filch::platform {

inline void charge(double ns) {
  if (vm::world* const w = vm::world::current()) w->charge(ns);
}

inline void touch(const void* at, std::size_t bytes, bool writes = false) {
  if (vm::world* const w = vm::world::current()) w->touch(at, bytes, writes);
}

inline double price(const char* name) {
  vm::world* const w = vm::world::current();
  return w == nullptr ? 0 : w->price(name);
}

/// One kind of work and its price.
class work {
 public:
  explicit constexpr work(const char* name) noexcept : name_(name) {}
  /// Call when a run begins: the price is that of the world of the moment.
  void look_up() { unit_ns_ = platform::price(name_); }
  /// The caller has done so many units.
  void done(double units = 1) const {
    if (vm::world* const w = vm::world::current()) w->charge(units * unit_ns_);
  }
  /// The same, where the number of units has to be worked out, which natively is not to happen.
  template <std::invocable Units>
  void done(Units&& units) const {
    if (vm::world* const w = vm::world::current()) w->charge(units() * unit_ns_);
  }

 private:
  const char* name_;
  double unit_ns_ = 0;
};

}  // namespace filch::platform
