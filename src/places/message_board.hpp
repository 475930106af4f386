// A load board that is made of messages: for places of which none can look into another's memory. What a place shows it
// keeps for itself, and answers when it is asked. So a place that looks at its network late is read late.
//
// Each question has a number, which its answer repeats. An asker that goes on to another place before it has the answer
// has forgotten the question; if the answer then is that it has the lock, the lock is given back.
//
// Thread safety: see load_board.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <filch/config.hpp>

#include "places/load_board.hpp"
#include "places/message.hpp"

namespace filch::detail::places {

class network;

class message_board final : public load_board {
 public:
  /// The network is the one that this is the board of.
  explicit message_board(network& over) noexcept : network_(over) {}

  void publish(int load) override { load_ = load; }
  std::optional<int> read(int place) override;
  std::optional<bool> try_lock(int place) override;
  void set_thief(int place) override;
  void unlock(int place) override;
  int thief() override { return thief_; }
  void clear_thief() override { thief_ = nobody; }
  bool handle(const message& m) override;

 private:
  /// What the other place is asked for, and, once it is known, the answer.
  struct question {
    message_kind kind;
    int place;
    std::uint32_t number;
    std::optional<std::int32_t> answer;
  };

  std::optional<std::int32_t> ask(message_kind kind, int place);
  void tell(message_kind kind, int place);
  void reply(const message& to, std::int32_t value);
  void take_answer(const message& m);
  [[nodiscard]] bool lock_own(int holder) noexcept;

  network& network_;
  std::optional<question> asked_;
  std::uint32_t newest_ = 0;
  int load_ = 0;
  int holder_ = nobody;  ///< of this place's lock
  int thief_ = nobody;
};

/// For the part of the library that knows MPI: the class itself stays inside this one.
FILCH_API std::unique_ptr<load_board> make_message_board(network& over);

}  // namespace filch::detail::places
