// The platform seam on the virtual machine: nothing is recorded. (`filch simulate --map` draws what virtual workers do.)
#pragma once

#include <cstdint>

namespace filch::platform {

inline constexpr bool records_traces = false;

struct trace_event {
  std::int64_t since_ns;
  std::int64_t until_ns;
  const char* name;
  std::int64_t number;
};

class trace_log {
 public:
  void start() {}
  void stop() noexcept {}
  template <class Each>
  void read(const Each& /*each*/) const {}
  [[nodiscard]] static std::int64_t begin() noexcept { return 0; }
  void end(const char* /*name*/, std::int64_t /*since_ns*/, std::int64_t /*number*/) noexcept {}
  void moment(const char* /*name*/, std::int64_t /*number*/) noexcept {}
};

}  // namespace filch::platform
