// The platform seam, part two: what the program's own work costs. This is the native platform, where work takes real
// time and nothing has to be told.
#pragma once

#include <concepts>
#include <cstddef>

namespace filch::platform {

inline void charge(double /*ns*/) noexcept {}
inline void touch(const void* /*at*/, std::size_t /*bytes*/, bool /*writes*/ = false) noexcept {}
inline double price(const char* /*name*/) noexcept { return 0; }

class work {
 public:
  explicit constexpr work(const char* /*name*/) noexcept {}
  void look_up() noexcept {}
  void done(double /*units*/ = 1) const noexcept {}
  template <std::invocable Units>
  void done(Units&& /*units*/) const noexcept {}
};

}  // namespace filch::platform
