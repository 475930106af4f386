// From the user's options and the environment to a policy object; policy/table.hpp says what exists and goes together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <filch/loop.hpp>
#include <filch/scheduler.hpp>

#include "platform/placement.hpp"
#include "worker/policy.hpp"

namespace filch::detail {

/// Options with nothing left open.
struct configuration {
  int workers;
  std::string policy;
  std::string join;
  loop_kind loop;
  bool steal_half;
  bool push_half;
  platform::pinning pinning;
  std::int64_t deal_interval_ns;
  std::int64_t level_attempts;
  std::int64_t interrupt_after_ns;  ///< 0: never
  std::int64_t interrupt_every_ns;  ///< 0: never
  std::int64_t spin_ns;
  std::size_t stack_bytes;
  std::function<void(int)> on_start;
  std::function<void(int)> on_stop;
  bool workers_are_said;  ///< else they are what this process may use
  int processors;         ///< so many does it have for its workers; 0: one each
};

/// Fills in defaults and checks everything. Throws std::invalid_argument; the message names value and remedy.
configuration configure(const options& chosen);

/// Builds the policy of a checked configuration.
std::unique_ptr<policy> make_policy(const configuration& chosen);

}  // namespace filch::detail
