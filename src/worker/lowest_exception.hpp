// Of several exceptions, that of the lowest number: so it is the same in every run, whoever throws first.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "platform/thread.hpp"

namespace filch::detail {

class lowest_exception {
 public:
  /// Notes the exception in flight, under that lock. The one of the two that goes ends when the lock is open: its destructor may do
  /// anything, and note other exceptions.
  void note(platform::mutex& guard, std::uint64_t number) noexcept {
    note(guard, number, [] {});
  }
  /// The same; if it is the lowest so far, `if_lowest()` is called under the lock.
  template <class IfLowest>
  void note(platform::mutex& guard, std::uint64_t number, const IfLowest& if_lowest) noexcept {
    std::exception_ptr other = std::current_exception();
    const std::lock_guard lock(guard);
    if (held_ != nullptr && held_of_ <= number) return;
    held_.swap(other);
    held_of_ = number;
    if_lowest();
  }

  /// Takes it out: who holds the lock, or when nobody notes any more. Null: there was none.
  [[nodiscard]] std::exception_ptr take() noexcept { return std::exchange(held_, nullptr); }

 private:
  std::exception_ptr held_;
  std::uint64_t held_of_ = 0;
};

}  // namespace filch::detail
