#include "platform/trace_log.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace filch::platform {
namespace {

/// Events that the owner may be in the middle of writing, as far as a reader sees.
constexpr std::uint64_t in_progress = 64;

}  // namespace

/// An event's words are relaxed: the number of those that are whole is released after them, and who reads one asks
/// afterwards whether it was whole. Zeroed pages are an empty ring: to write it at its start would cost a millisecond.
struct trace_log::ring {
  struct words {
    std::atomic<std::int64_t> since_ns, until_ns, number;
    std::atomic<const char*> name;
  };
  std::array<words, most_events> events;
  std::atomic<std::uint64_t> count;
};

void trace_log::start() {
  if (memory_ == nullptr) memory_ = std::make_unique<mapping>(sizeof(ring));
  first_ = noted();
  to_.store(own(), std::memory_order_release);  // the ring, for note()
}

// It stays there: the owner may be about to note something.
void trace_log::stop() noexcept { to_.store(nullptr, std::memory_order_relaxed); }

void trace_log::note(const trace_event& e) noexcept {
  ring* const to = to_.load(std::memory_order_acquire);
  if (to == nullptr) return;  // stopped meanwhile
  const std::uint64_t index = to->count.load(std::memory_order_relaxed);
  ring::words& w = to->events[index % most_events];
  w.since_ns.store(e.since_ns, std::memory_order_relaxed);
  w.until_ns.store(e.until_ns, std::memory_order_relaxed);
  w.number.store(e.number, std::memory_order_relaxed);
  w.name.store(e.name, std::memory_order_relaxed);
  to->count.store(index + 1, std::memory_order_release);
}

std::uint64_t trace_log::noted() const noexcept {
  // A read-modify-write: what was read before it is not read later.
  return own() != nullptr ? own()->count.fetch_add(0, std::memory_order_acq_rel) : 0;
}

std::uint64_t trace_log::first_whole(std::uint64_t newest) const noexcept {
  return std::max(first_, newest < most_events ? 0 : newest - most_events + in_progress);
}

trace_event trace_log::at(std::uint64_t index) const noexcept {
  const ring::words& w = own()->events[index % most_events];
  return {w.since_ns.load(std::memory_order_relaxed), w.until_ns.load(std::memory_order_relaxed),
          w.name.load(std::memory_order_relaxed), w.number.load(std::memory_order_relaxed)};
}

}  // namespace filch::platform
