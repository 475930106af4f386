#include "places/message_board.hpp"

#include <utility>

#include "places/network.hpp"

namespace filch::detail::places {

std::optional<int> message_board::read(int place) {
  if (place == network_.place()) return load_;
  return ask(message_kind::board_read, place);
}

std::optional<bool> message_board::try_lock(int place) {
  if (place == network_.place()) return lock_own(place);
  const std::optional<std::int32_t> answer = ask(message_kind::board_lock, place);
  return answer ? std::optional<bool>(*answer != 0) : std::nullopt;
}

void message_board::set_thief(int place) {
  if (place == network_.place()) {
    thief_ = place;
  } else {
    tell(message_kind::board_thief, place);
  }
}

void message_board::unlock(int place) {
  if (place == network_.place()) {
    holder_ = nobody;
  } else {
    tell(message_kind::board_unlock, place);
  }
}

bool message_board::lock_own(int holder) noexcept {
  if (holder_ != nobody) return false;
  holder_ = holder;
  return true;
}

std::optional<std::int32_t> message_board::ask(message_kind kind, int place) {
  if (asked_ && asked_->kind == kind && asked_->place == place) {
    if (!asked_->answer) return std::nullopt;
    return std::exchange(asked_, std::nullopt)->answer;
  }
  // An answer that has come and was not fetched is forgotten as one that is on its way: the lock must not stay taken.
  if (asked_ && asked_->kind == message_kind::board_lock && asked_->answer && *asked_->answer != 0)
    tell(message_kind::board_unlock, asked_->place);
  asked_ = question{kind, place, ++newest_, std::nullopt};
  message m;
  m.kind = kind;
  message_writer(m).add(newest_);
  network_.send(place, std::move(m));
  return std::nullopt;
}

void message_board::tell(message_kind kind, int place) {
  message m;
  m.kind = kind;
  network_.send(place, std::move(m));
}

void message_board::reply(const message& to, std::int32_t value) {
  const auto number = message_reader(to).get<std::uint32_t>();
  message m;
  m.kind = message_kind::board_answer;
  message_writer(m).add(number).add(to.kind).add(value);
  network_.send(to.from, std::move(m));
}

void message_board::take_answer(const message& m) {
  message_reader in(m);
  const auto number = in.get<std::uint32_t>();
  const auto kind = in.get<message_kind>();
  const auto value = in.get<std::int32_t>();
  if (asked_ && asked_->number == number) {
    asked_->answer = value;
  } else if (kind == message_kind::board_lock && value != 0) {
    tell(message_kind::board_unlock, m.from);
  }
}

bool message_board::handle(const message& m) {
  switch (m.kind) {
    case message_kind::board_read:
      reply(m, load_);
      return true;
    case message_kind::board_lock:
      reply(m, lock_own(m.from) ? 1 : 0);
      return true;
    case message_kind::board_answer:
      take_answer(m);
      return true;
    case message_kind::board_thief:
      thief_ = m.from;
      return true;
    case message_kind::board_unlock:
      if (holder_ == m.from) holder_ = nobody;
      return true;
    default:
      return false;
  }
}

std::unique_ptr<load_board> make_message_board(network& over) { return std::make_unique<message_board>(over); }

}  // namespace filch::detail::places
