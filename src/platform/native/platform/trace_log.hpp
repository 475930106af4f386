// The platform seam: what a worker does, noted with the time, while somebody records it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <filch/platform/memory.hpp>

#include "platform/clock.hpp"
#include "platform/mapping.hpp"

namespace filch::platform {

/// Can anything be recorded?
inline constexpr bool records_traces = true;

/// A span of time, or a moment if it ends when it begins.
struct trace_event {
  std::int64_t since_ns;
  std::int64_t until_ns;
  const char* name;  ///< lasts as long as the program
  std::int64_t number;
};

/// The newest events of one worker, at most `most_events`: 2 MiB, of which only pages that were noted in exist. The owner
/// notes; any thread starts, stops and reads. Off, it costs a load and a comparison.
class trace_log {
 public:
  static constexpr std::size_t most_events = std::size_t{1} << 16;

  trace_log() = default;
  trace_log(const trace_log&) = delete;
  trace_log& operator=(const trace_log&) = delete;

  /// One thread at a time starts, stops and reads. Throws std::bad_alloc.
  void start();
  void stop() noexcept;
  /// Calls each(event) with what was noted since it was started, the oldest first.
  template <class Each>
  void read(const Each& each) const;

  /// Owner. The time, if anything is recorded; else 0.
  [[nodiscard]] std::int64_t begin() const noexcept { return is_on() ? now_ns() : 0; }
  /// Owner. What began at that time, which begin() has given, is over.
  void end(const char* name, std::int64_t since_ns, std::int64_t number) noexcept {
    if (since_ns != 0 && is_on()) note({since_ns, now_ns(), name, number});
  }
  /// Owner. Something has happened.
  void moment(const char* name, std::int64_t number) noexcept {
    if (!is_on()) return;
    const std::int64_t now = now_ns();
    note({now, now, name, number});
  }

 private:
  struct ring;

  [[nodiscard]] bool is_on() const noexcept { return to_.load(std::memory_order_relaxed) != nullptr; }
  void note(const trace_event& e) noexcept;
  /// Any; null: it was never started.
  [[nodiscard]] ring* own() const noexcept {
    return memory_ != nullptr ? static_cast<ring*>(memory_->data()) : nullptr;
  }
  [[nodiscard]] std::uint64_t first_whole(std::uint64_t newest) const noexcept;
  [[nodiscard]] std::uint64_t noted() const noexcept;
  [[nodiscard]] trace_event at(std::uint64_t index) const noexcept;

  atomic<ring*> to_{nullptr};        ///< null: nothing is recorded
  std::unique_ptr<mapping> memory_;  ///< of the ring, from the first start on
  std::uint64_t first_ = 0;          ///< what was noted before it was started last
};

template <class Each>
void trace_log::read(const Each& each) const {
  if (memory_ == nullptr) return;
  const std::uint64_t end = noted();
  for (std::uint64_t i = first_whole(end); i < end; ++i) {
    const trace_event e = at(i);
    // The owner may go on: was this overwritten meanwhile?
    if (i >= first_whole(noted())) each(e);
  }
}

}  // namespace filch::platform
