// What the workers of a scheduler have in common.
#pragma once

#include <cstdint>
#include <string_view>

namespace filch::detail {

class interrupter;
class policy;
class sleepers;
class stand_ins;
class striped_mutex;
class team;

/// What the workers of a scheduler have in common.
struct common_parts {
  detail::team& team;
  detail::sleepers& sleepers;
  detail::interrupter& interrupter;
  detail::policy& policy;
  stand_ins& spares;             ///< for workers that are blocked
  striped_mutex& mutexes;        ///< by address: of the exception of a loop or bag, or of the values of a reduction
  int workers;                   ///< with a thread or the seat: those that loops are cut for
  std::int64_t spin_ns;          ///< how long to find nothing before a worker sleeps
  std::string_view policy_name;  ///< for messages
  bool is_place;                 ///< tasks belong to a finish (filch/places.hpp)
};

}  // namespace filch::detail
