// What places send each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace filch::detail::places {

enum class message_kind : std::uint8_t {
  bodies,        ///< of async_at: closures that run there
  steal,         ///< success_only, lifeline: the thief waits for tasks of that place
  attempt,       ///< lifeline: the thief wants tasks, or to hear that there are none
  tasks,         ///< closures of async_any
  no_tasks,      ///< baseline, lifeline: the victim has none
  copy_in,       ///< async_copy: bytes for that place's memory
  copy_out,      ///< async_copy: that place is to send bytes of its memory
  copied,        ///< async_copy: has happened
  tree_up,       ///< of a collective operation: what a part of the tree has
  tree_down,     ///< its result
  board_read,    ///< load board by messages: question, and answer
  board_answer,  ///< to it, and to board_lock
  board_lock,
  board_thief,
  board_unlock,
};

struct message {
  message_kind kind{};
  std::uint8_t channel = 0;           ///< of a tree: which one
  std::int32_t from = -1;             ///< place; set by the network
  std::uint32_t finish = 0;           ///< number of the finish_spmd that it belongs to
  std::vector<std::byte> contents{};  ///< written by message_writer
};

/// Bytes that one message may have: MPI counts them by an int, and the network adds some of its own.
inline constexpr std::size_t most_contents = std::numeric_limits<std::int32_t>::max() - 1024;

/// @throws std::length_error: too many for one message.
inline void check_length(std::size_t bytes) {
  if (bytes <= most_contents) return;
  throw std::length_error("filch: " + std::to_string(bytes) + " bytes are too many for one message, which takes " +
                          std::to_string(most_contents) + "; send them in parts");
}

/// Room for what a network appends: else that would move all bytes of a large message, to twice as much memory.
inline constexpr std::size_t of_network = 64;

/// Appends values to a message. All places run the same program on the same kind of machine: bytes are copied.
class message_writer {
 public:
  explicit message_writer(message& to) noexcept : to_(to.contents) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  message_writer& add(const T& value) {
    return add_bytes(std::as_bytes(std::span(&value, 1)));
  }
  message_writer& add_bytes(std::span<const std::byte> bytes) {
    const std::size_t needed = to_.size() + bytes.size();
    if (needed > to_.capacity()) to_.reserve(std::max(needed + of_network, 2 * to_.capacity()));
    to_.insert(to_.end(), bytes.begin(), bytes.end());
    return *this;
  }

 private:
  std::vector<std::byte>& to_;
};

/// Reads them in the same order.
class message_reader {
 public:
  explicit message_reader(const message& from) noexcept : left_(from.contents) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T get() noexcept {
    T value;
    std::memcpy(static_cast<void*>(&value), get_bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }
  [[nodiscard]] std::span<const std::byte> get_bytes(std::size_t count) noexcept {
    const auto bytes = left_.first(count);
    left_ = left_.subspan(count);
    return bytes;
  }
  [[nodiscard]] std::span<const std::byte> get_rest() noexcept { return get_bytes(left_.size()); }
  [[nodiscard]] bool is_at_end() const noexcept { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

}  // namespace filch::detail::places
