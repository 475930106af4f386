#include "scheduler/lookout.hpp"

#include <algorithm>
#include <utility>

#include "platform/clock.hpp"
#include "worker/crowd.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// Between two looks: many times what a wake-up takes. Longer and longer while workers wait for something else than processors.
constexpr std::int64_t shortest_ns = 1'000'000;
constexpr std::int64_t longest_ns = 16 * shortest_ns;
/// Looks in succession. A worker that was woken for a loop may be on the processor of its waker for some milliseconds, beside one that
/// is free.
constexpr int most_in_vain = 4;
/// Looks in succession after which those who come are few again.
constexpr int calm = 8;

/// Some may go to other programs, or are counted late.
bool are_in_use(std::uint32_t processors, std::int64_t used_ns, std::int64_t elapsed_ns) {
  return used_ns * 8 >= elapsed_ns * processors * 5;
}

}  // namespace

lookout::lookout(sleepers& idle, const team& everybody)
    : idle_(idle),
      everybody_(everybody),
      thread_(platform::small_stack_bytes, [this] { run(); }, platform::no_processor, "filch-lookout") {}

lookout::~lookout() {
  if (!thread_.is_of_this_process()) return;         // in a child process after fork()
  stopping_.store(true, std::memory_order_relaxed);  // [CW2] relaxed: seen after the token, which unpark releases
  idle_.held_back().wake_lookout();
  thread_.join();
}

void lookout::run() noexcept {
  crowd& held_back = idle_.held_back();
  std::int64_t period_ns = shortest_ns;
  int looks_in_vain = 0;
  int calm_looks = 0;
  std::uint32_t come = 1;
  while (!stopping_.load(std::memory_order_relaxed)) {  // [CW2]
    if (!held_back.is_noted() && !held_back.is_open()) {
      held_back.rest();
      // Not if it was short: who was woken has found something, and there is more.
      if (look().elapsed_ns > calm * shortest_ns) come = 1;
      looks_in_vain = 0;
      calm_looks = 0;
      continue;
    }
    held_back.rest_until(at_ns_ + period_ns);
    const deeds since = look();
    const bool are_crowded = idle_.are_crowded();
    const bool is_full = are_crowded && are_in_use(held_back.processors(), since.processor_ns, since.elapsed_ns);
    // Those that search find what there is. Those that do not may be busy for long, or wait for what nobody else comes for.
    if (is_full && (since.have_searched || !held_back.is_noted())) {
      looks_in_vain = 0;
      if (++calm_looks == calm) come = 1;
    } else {
      ++looks_in_vain;
      calm_looks = 0;
    }
    const bool is_time = looks_in_vain >= most_in_vain;
    // Where processors are free, those that are awake wait for something else, and nobody is held up by one more.
    // But not while nothing happens: then there is no reason to look either.
    const bool is_quiet = period_ns == longest_ns && !since.have_searched;
    held_back.open(is_time && are_crowded && !is_full && !is_quiet);
    period_ns = held_back.is_open() ? std::min(2 * period_ns, longest_ns) : shortest_ns;
    if (!is_time || !held_back.is_noted()) continue;
    held_back.forget();
    idle_.wake_more(is_full ? come : sleepers::most_woken);
    if (is_full) come = std::min(2 * come, everybody_.size());
  }
}

lookout::deeds lookout::look() noexcept {
  deeds since{};
  const std::int64_t now_ns = platform::now_ns();
  since.elapsed_ns = now_ns - at_ns_;
  std::uint64_t searches = 0;
  for (std::uint32_t i = 0; i < everybody_.size(); ++i) {
    worker& w = everybody_[i];
    // relaxed, all: numbers to look at.
    searches +=
        w.counted.steals.load(std::memory_order_relaxed) + w.counted.failed_steals.load(std::memory_order_relaxed);
    // Who slept then and sleeps now has had little; a look at its clock is a system call.
    const bool sleeps = w.sleep.state.load(std::memory_order_relaxed) == sleep_state::asleep;
    if (std::exchange(w.slept_at_look, sleeps) && sleeps) continue;
    since.processor_ns += std::min(w.clock.had_since_last_look(), since.elapsed_ns);
  }
  since.have_searched = searches != searches_;
  at_ns_ = now_ns;
  searches_ = searches;
  return since;
}

}  // namespace filch::detail
