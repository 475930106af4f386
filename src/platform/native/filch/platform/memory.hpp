// The platform seam, part one: memory. Every field that the scheduler shares, or that a signal handler of the owner's
// thread may look at, has one of three kinds:
//   atomic   any thread; every operation names its order
//   shared   plain data handed over by an atomic; a checking platform looks for races on it
//   local    the owner and its own signal handlers; no other thread ever
// This is the native platform. A platform is chosen by include path, never by a macro.
#pragma once

#include <atomic>
#include <functional>
#include <type_traits>

namespace filch::platform {

template <class T>
using atomic = std::atomic<T>;

/// Plain data of one thread at a time; who comes next is decided by an atomic elsewhere.
template <class T>
class shared {
 public:
  shared() = default;
  explicit shared(T value) noexcept : value_(value) {}
  [[nodiscard]] T load() const noexcept { return value_; }
  void store(T value) noexcept { value_ = value; }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  T value_;
};

/// A word of the owner and of its signal handlers. Relaxed atomics, because a handler must never see half a word;
/// against other operations of the same thread `signal_fence` orders it.
template <class T>
class local {
 public:
  constexpr local() noexcept = default;
  constexpr explicit local(T value) noexcept : value_(value) {}
  [[nodiscard]] T load() const noexcept { return value_.load(std::memory_order_relaxed); }
  void store(T value) noexcept { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

#if defined(__x86_64__) && defined(__LP64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
namespace detail {
/// Is what the word holds above `p`? One instruction that loads and compares; compilers make two of a relaxed load.
template <class Word, class T>
[[nodiscard]] [[gnu::always_inline]] inline bool word_is_above(const Word& word, T* p) noexcept {
  static_assert(sizeof(Word) == sizeof(T*));
  bool above;
  asm volatile("cmpq %1, %2" : "=@ccb"(above) : "m"(word), "r"(p));
  return above;
}
}  // namespace detail
template <class T>
[[nodiscard]] inline bool is_above(const atomic<T*>& word, T* p) noexcept {
  return detail::word_is_above(word, p);
}
template <class T>
[[nodiscard]] inline bool is_above(const local<T*>& word, T* p) noexcept {
  return detail::word_is_above(word, p);
}
#else
/// Is what the word holds above `p`? The load is relaxed.
template <class T>
[[nodiscard]] inline bool is_above(const atomic<T*>& word, T* p) noexcept {
  return std::greater<>{}(word.load(std::memory_order_relaxed), p);
}
template <class T>
[[nodiscard]] inline bool is_above(const local<T*>& own_word, T* p) noexcept {
  return std::greater<>{}(own_word.load(), p);
}
#endif

/// Orders the operations of this thread as its own signal handlers see them; costs no instruction.
inline void signal_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace filch::platform
