// A thread that looks after the wake-ups that a crowd of workers has held back (worker/crowd.hpp): it lets workers come where
// those that are awake do not use the processors, or do not come back for more. It sleeps while nothing is held back.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "platform/thread.hpp"
#include "worker/sleepers.hpp"
#include "worker/team.hpp"

namespace filch::detail {

class lookout {
 public:
  lookout(sleepers& idle, const team& everybody);
  ~lookout();
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;

 private:
  /// What the workers that are awake have done since the last look.
  struct deeds {
    std::int64_t elapsed_ns;
    std::int64_t processor_ns;  ///< what they have had of processors, together
    bool have_searched;
  };

  void run() noexcept;
  deeds look() noexcept;

  sleepers& idle_;
  const team& everybody_;
  // Of the last look.
  std::int64_t at_ns_ = 0;
  std::uint64_t searches_ = 0;
  platform::atomic<bool> stopping_{false};
  platform::thread thread_;  // last: it uses all of the others
};

}  // namespace filch::detail
