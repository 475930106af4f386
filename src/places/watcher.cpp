#include "places/watcher.hpp"

#include <algorithm>
#include <utility>

#include "platform/clock.hpp"

namespace filch::detail::places {
namespace {

/// Of a sleeper that naps, see docs/protocols/success-only.md: what would be shorter is a yield.
constexpr std::int64_t shortest_nap_ns = 20'000;
constexpr std::int64_t longest_nap_ns = 800'000;

/// While all workers are busy, and longer as long as nothing comes.
constexpr std::int64_t watch_ns = 100'000;

/// A yield that takes longer has let somebody else run.
constexpr std::int64_t yield_ns = 20'000;

// Gives the processor to whoever wants it. False: somebody did.
bool has_own_processor() noexcept {
  const std::int64_t before_ns = platform::now_ns();
  platform::yield();
  return platform::now_ns() - before_ns < yield_ns;
}

}  // namespace

std::int64_t nap::next_ns() noexcept {
  const std::int64_t now_ns = platform::now_ns();
  if (began_ns_.load() == 0) began_ns_.store(now_ns);
  const std::int64_t nap_ns = std::min((now_ns - began_ns_.load()) / 16, longest_nap_ns);
  has_rested_.store(nap_ns >= shortest_nap_ns);
  if (has_rested_.load()) return now_ns + nap_ns;
  platform::yield();
  return now_ns;
}

watcher::watcher(bool is_dedicated, bool is_needed, std::function<seen(bool rested)> look)
    : is_needed_(is_needed), is_dedicated_(is_needed && is_dedicated), look_(std::move(look)) {
  // The program's own code runs there as well, which writes and reads closures, and combines values.
  if (is_needed) thread_.emplace(platform::worker_stack_bytes(), [this] { is_dedicated_ ? communicate() : watch(); });
}

watcher::~watcher() { stop(); }

void watcher::stop() noexcept {
  if (!thread_ || !thread_->is_of_this_process()) return;  // in a child process after fork()
  stopping_.store(true, std::memory_order_relaxed);        // [WT1] relaxed: seen after the token, which unpark releases
  parker_.unpark();
  thread_->join();
  thread_.reset();
}

// [WT2] relaxed: a hint; somebody looks a little too often, or too seldom by one turn.
void watcher::note_look() noexcept { last_look_.store(platform::ticks(), std::memory_order_relaxed); }

bool watcher::is_look_due() const noexcept {
  return platform::ticks() - last_look_.load(std::memory_order_relaxed) > 10 * platform::ticks_of_some_us();  // [WT2]
}

bool watcher::begin_nap() noexcept {
  // [WT3] acquire: nap_, from [WT4].
  if (!is_needed_ || napping_.exchange(true, std::memory_order_acquire)) return false;
  nap_.begin();
  return true;
}

std::int64_t watcher::poll_in_nap() noexcept {
  if (look_(nap_.has_rested()) == seen::message) nap_.begin();
  return nap_.next_ns();
}

void watcher::end_nap() noexcept {
  napping_.store(false, std::memory_order_release);  // [WT4] release: see [WT3]
  // The watchdog sleeps for as long as somebody naps; its token makes it look at napping_ again.
  parker_.unpark();
}

void watcher::watch() noexcept {
  std::uint64_t looked = 0;
  std::int64_t wait_ns = watch_ns;
  while (!stopping_.load(std::memory_order_relaxed)) {  // [WT1]
    // [WT5] relaxed: who ends a nap leaves a token afterwards.
    if (napping_.load(std::memory_order_relaxed)) {
      parker_.park();
      wait_ns = watch_ns;
      continue;
    }
    parker_.park_until(platform::now_ns() + wait_ns);
    const std::uint64_t last = last_look_.load(std::memory_order_relaxed);  // [WT2]
    const bool came = std::exchange(looked, last) == last && look_(false) == seen::message;
    wait_ns = came ? watch_ns : std::min(2 * wait_ns, longest_nap_ns);
  }
}

void watcher::communicate() noexcept {
  nap waiting;
  std::int64_t rested_ns = 0;
  while (!stopping_.load(std::memory_order_relaxed)) {  // [WT1]
    // Where it never naps, it looks for tasks as often as it would with the shortest naps.
    const bool has_rested = waiting.has_rested() || platform::now_ns() - rested_ns >= shortest_nap_ns;
    if (has_rested) rested_ns = platform::now_ns();
    const seen found = look_(has_rested);
    if (found == seen::message) waiting.begin();
    if (found == seen::own_work && has_own_processor()) continue;
    const std::int64_t next_ns = waiting.next_ns();
    if (next_ns > platform::now_ns()) parker_.park_until(next_ns);
  }
}

}  // namespace filch::detail::places
