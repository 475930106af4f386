// The waits of the ADWS paper (Shiina and Taura 2019, section 4.2): who waits runs what it was given, and what it may
// steal from its steal range, related to what it waits for or not. Its waits are work-conserving where division points
// lie inside of workers' parts (section 4.2.4), and not safe: a task may want a lock that the waiter holds.
//
// Deviation: the paper's worker leaves the waiting task and may continue it elsewhere; here the waiting function goes on
// when what was begun on top of it has ended.
#pragma once

#include "join/random_join.hpp"

namespace filch::detail {

class migrated final : public random_join {
 public:
  [[nodiscard]] bool runs_given() const noexcept override { return true; }
};

}  // namespace filch::detail
