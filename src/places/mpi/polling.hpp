// How anything is waited for: by looking again and again, with longer and longer naps in between. MPI's own blocking
// calls spin, which takes the processor from those that are waited for.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include <mpi.h>

namespace filch::detail::places {

class polling {
 public:
  /// To be called after each look in vain.
  void pause() {
    if (looks_ < yields) {
      ++looks_;
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap_);
      nap_ = std::min(nap_ * 2, longest_nap);
    }
  }
  /// To be called after one that found something.
  void reset() { *this = {}; }

 private:
  static constexpr int yields = 50;
  static constexpr std::chrono::microseconds longest_nap{1000};
  int looks_ = 0;
  std::chrono::microseconds nap_{20};
};

/// Looks until it is true, with `meanwhile` after each look in vain: true if it has done something.
template <class IsTrue, class Meanwhile>
void poll_until(const IsTrue& is_true, const Meanwhile& meanwhile) {
  polling pauses;
  while (!is_true()) {
    if (meanwhile()) {
      pauses.reset();
    } else {
      pauses.pause();
    }
  }
}

[[nodiscard]] inline bool is_complete(MPI_Request& request) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

inline void wait_for(MPI_Request& request) {
  poll_until([&] { return is_complete(request); }, [] { return false; });
}

}  // namespace filch::detail::places
