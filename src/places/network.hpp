// What connects places. Messages from one place to another arrive in the order in which they were sent; those of
// different places in any order.
//
// Thread safety: one thread at a time, the one that looks at the network, calls any of it; not always the same one.
// Nothing waits here: who needs an answer looks again later.
#pragma once

#include <cstdint>

#include "places/load_board.hpp"
#include "places/message.hpp"

namespace filch::detail::places {

/// Of a message whose arrival is asked for.
using receipt = std::uint64_t;

class network {
 public:
  network() = default;
  virtual ~network() = default;
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  [[nodiscard]] virtual int place() const noexcept = 0;   ///< this one, from 0
  [[nodiscard]] virtual int places() const noexcept = 0;  ///< how many there are

  /// Places, this one included, that share its processors.
  [[nodiscard]] virtual int sharers() const noexcept { return 1; }

  virtual void send(int to, message&& m) = 0;
  /// The same, for a sender that wants to know when the other place has received it. One at a time.
  [[nodiscard]] virtual receipt send_with_receipt(int to, message&& m) = 0;
  [[nodiscard]] virtual bool has_arrived(receipt of) = 0;
  /// The next message, if one has come.
  [[nodiscard]] virtual bool receive(message& into) = 0;

  [[nodiscard]] virtual load_board& board() noexcept = 0;
};

}  // namespace filch::detail::places
