// The platform seam: binding threads to processors, by their affinity masks.
#pragma once

#include <array>
#include <climits>
#include <cstddef>

#include <pthread.h>

namespace filch::platform {

/// The processors that a thread may run on. As large as any kernel's.
class affinity_mask {
 public:
  static constexpr int most_processors = 1 << 14;

  /// That of the calling thread. Empty if the system does not say.
  [[nodiscard]] static affinity_mask of_caller() noexcept;
  /// The one that the calling thread had before it was bound. Null: it is not bound.
  [[nodiscard]] static const affinity_mask* before_binding() noexcept;
  [[nodiscard]] static affinity_mask only(int processor) noexcept;
  /// Gives it to the calling thread. False: the system refuses, and nothing has changed.
  bool apply() const noexcept;
  /// A thread that is started with these attributes has it from the beginning.
  void give_to(pthread_attr_t& attributes) const noexcept;
  [[nodiscard]] bool has(int processor) const noexcept {
    return ((words_[word_of(processor)] >> bit_of(processor)) & 1) != 0;
  }

  bool operator==(const affinity_mask&) const = default;

 private:
  static constexpr std::size_t bits = sizeof(unsigned long) * CHAR_BIT;
  static std::size_t word_of(int processor) noexcept { return static_cast<std::size_t>(processor) / bits; }
  static std::size_t bit_of(int processor) noexcept { return static_cast<std::size_t>(processor) % bits; }

  std::array<unsigned long, most_processors / bits> words_{};
};

/// Keeps one thread at a time on one processor, and gives the thread its old mask back. Best effort: where the system
/// refuses, since the processor has gone meanwhile, the thread stays where it is.
///
/// A bound thread that makes a scheduler is asked for the processors of the process: so its mask from before counts
/// (before_binding), and threads that it starts have that one.
class processor_binding {
 public:
  /// Binds the calling thread. -1: does nothing.
  void begin(int processor) noexcept;
  /// Afterwards, on the same thread. A mask that somebody else has given to it meanwhile stays.
  void end() noexcept;

 private:
  int processor_ = -1;
  affinity_mask before_{};
  const affinity_mask* outer_ = nullptr;  ///< the thread's from before an enclosing binding
};

}  // namespace filch::platform
