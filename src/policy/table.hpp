// What can be chosen: a row for each policy and for each join. All that depends on which one was chosen reads these
// rows: the options' checks, their messages, the command line, the simulator. So a new policy is a file in this folder
// and a row.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <filch/combinations.hpp>
#include <filch/loop.hpp>

#include "join/join.hpp"
#include "victim/victim.hpp"
#include "worker/policy.hpp"

namespace filch::detail {

/// What a policy is made of; checked.
struct policy_parts {
  std::unique_ptr<victim_selector> victims;
  std::unique_ptr<join_strategy> join;
  loop_kind loop;
  int workers;
  bool steal_half;
  bool push_half;
  std::int64_t deal_interval_ns;
  std::uint32_t level_attempts;
};

struct policy_row {
  std::string_view name;
  std::string_view summary;
  std::vector<loop_kind> loops;           ///< the default first
  std::vector<std::string_view> options;  ///< that mean something to this policy and not to all: their names
  std::unique_ptr<policy> (*make)(policy_parts parts);
  int default_workers = 0;  ///< 0: all that the process may use
};

struct join_row {
  std::string_view name;
  bool is_safe;                            ///< who waits runs descendants of what it waits for, and nothing else
  std::vector<std::string_view> policies;  ///< that it goes with; none: all
  std::unique_ptr<join_strategy> (*make)();
};

/// In the order of the documentation; the default first.
[[nodiscard]] const std::vector<policy_row>& policy_table();
[[nodiscard]] const std::vector<join_row>& join_table();

}  // namespace filch::detail
