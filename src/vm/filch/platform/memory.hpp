// The platform seam, part one: memory, on the virtual machine. The same three kinds as on the native platform, but each
// operation asks the world what it does. Objects have the size of native ones where slots need it, and zeroed memory is
// an object that holds 0, because task stacks are made of it.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <type_traits>

#include "vm/world.hpp"

namespace filch::platform {

template <class T>
class atomic {
  struct box {
    T value;
  };
  static_assert(std::is_trivially_copyable_v<T> && sizeof(box) <= sizeof(vm::word));
  using narrow = std::conditional_t<sizeof(box) == 1, std::uint8_t, std::uint32_t>;
  using world = vm::world;
  using site = vm::site;

 public:
  constexpr atomic() noexcept : atomic(T{}) {}
  constexpr atomic(T value) noexcept : word_(pack(value)) {
    if (!std::is_constant_evaluated()) {
      if (world* const w = world::current()) w->begin(word_);
    }
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order order, site from = site::current()) const noexcept {
    if (world* const w = world::current()) return unpack(w->load(word_, order, from));
    return unpack(word_);
  }
  void store(T value, std::memory_order order, site from = site::current()) noexcept {
    if (world* const w = world::current()) return w->store(word_, pack(value), order, from);
    word_ = pack(value);
  }
  T exchange(T value, std::memory_order order, site from = site::current()) noexcept {
    return modify([](vm::word, vm::word operand) { return operand; }, value, order, from);
  }
  T fetch_add(T value, std::memory_order order, site from = site::current()) noexcept {
    return modify(
        [](vm::word before, vm::word operand) { return pack(static_cast<T>(unpack(before) + unpack(operand))); }, value,
        order, from);
  }
  T fetch_sub(T value, std::memory_order order, site from = site::current()) noexcept {
    return modify(
        [](vm::word before, vm::word operand) { return pack(static_cast<T>(unpack(before) - unpack(operand))); }, value,
        order, from);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure,
                               site from = site::current()) noexcept {
    return compare_exchange(expected, desired, {success, failure}, false, from);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure,
                             site from = site::current()) noexcept {
    return compare_exchange(expected, desired, {success, failure}, true, from);
  }

 private:
  static constexpr vm::word pack(T value) noexcept {
    if constexpr (std::is_pointer_v<T>) {
      if (std::is_constant_evaluated()) return value == nullptr ? 0 : (std::abort(), 0);
    }
    if constexpr (sizeof(box) == sizeof(vm::word)) {
      return std::bit_cast<vm::word>(value);
    } else {
      return static_cast<vm::word>(value);
    }
  }
  static constexpr T unpack(vm::word bits) noexcept {
    if constexpr (sizeof(box) == sizeof(vm::word)) {
      return std::bit_cast<T>(bits);
    } else {
      return std::bit_cast<T>(static_cast<narrow>(bits));
    }
  }
  T modify(vm::modification by, T operand, std::memory_order order, const site& from) noexcept {
    if (world* const w = world::current()) return unpack(w->modify(word_, by, pack(operand), order, from));
    const vm::word before = word_;
    word_ = by(before, pack(operand));
    return unpack(before);
  }
  bool compare_exchange(T& expected, T desired, world::exchange_orders orders, bool weak, const site& from) noexcept {
    vm::word seen = pack(expected);
    bool done = false;
    if (world* const w = world::current()) {
      done = w->compare_exchange(word_, seen, pack(desired), orders, weak, from);
    } else {
      done = word_ == seen;
      (done ? word_ : seen) = done ? pack(desired) : word_;
    }
    expected = unpack(seen);
    return done;
  }

  mutable vm::word word_;  // a load is an event, too
};

/// What the two kinds of plain data have in common: each access is checked for a race, by those two.
template <class T, void (vm::world::*Read)(const void*, const vm::site&),
          void (vm::world::*Write)(const void*, const vm::site&)>
class checked {
 public:
  [[nodiscard]] T load(vm::site from = vm::site::current()) const noexcept {
    if (vm::world* const w = vm::world::current()) (w->*Read)(address(), from);
    return value_;
  }
  void store(T value, vm::site from = vm::site::current()) noexcept {
    if (vm::world* const w = vm::world::current()) (w->*Write)(address(), from);
    value_ = value;
  }

 protected:
  checked() = default;
  constexpr explicit checked(T value) noexcept : value_(value) {}
  [[nodiscard]] const void* address() const noexcept { return static_cast<const void*>(&value_); }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  T value_;
};

/// Plain data of one thread at a time; who comes next is decided by an atomic elsewhere.
template <class T>
class shared : public checked<T, &vm::world::read, &vm::world::write> {
  using base = checked<T, &vm::world::read, &vm::world::write>;

 public:
  shared() noexcept {
    if (vm::world* const w = vm::world::current()) w->forget(this->address(), sizeof(shared));
  }
  explicit shared(T value, vm::site from = vm::site::current()) noexcept : base(value) {
    if (vm::world* const w = vm::world::current()) {
      w->forget(this->address(), sizeof(shared));
      w->write(this->address(), from);
    }
  }
};

/// A word of the owner and of its signal handlers.
template <class T>
class local : public checked<T, &vm::world::read_local, &vm::world::write_local> {
  using base = checked<T, &vm::world::read_local, &vm::world::write_local>;

 public:
  constexpr local() noexcept : local(T{}) {}
  // What was at its place before is no race.
  constexpr explicit local(T value) noexcept : base(value) {
    if (!std::is_constant_evaluated()) {
      if (vm::world* const w = vm::world::current()) w->forget(this->address(), sizeof(local));
    }
  }
};

/// Is what the word holds above `p`? The load is relaxed.
template <class T>
[[nodiscard]] bool is_above(const atomic<T*>& word, T* p, vm::site from = vm::site::current()) noexcept {
  return std::greater<>{}(word.load(std::memory_order_relaxed, from), p);
}
template <class T>
[[nodiscard]] bool is_above(const local<T*>& word, T* p, vm::site from = vm::site::current()) noexcept {
  return std::greater<>{}(word.load(from), p);
}

inline void signal_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace filch::platform
