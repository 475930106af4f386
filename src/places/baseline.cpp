#include "places/baseline.hpp"

#include <algorithm>

namespace filch::detail::places {
// Thieves ask by the flag.
void baseline::asked(int /*thief*/, message_kind /*how*/) {}

void baseline::tasks_came(int from) {
  if (state_ == state::waiting && from == victim_) {
    at_.board().unlock(victim_);
    ++at_.counted.messages;
    state_ = state::calm;
  }
  ++at_.counted.victims[std::clamp<std::size_t>(in_phase_, 1, at_.counted.victims.size()) - 1];
  in_phase_ = 0;
  search_.end();
}

void baseline::refused(int by) {
  if (state_ != state::waiting || by != victim_) return;
  at_.board().unlock(victim_);
  ++at_.counted.messages;
  ++at_.counted.failed_steals;
  state_ = state::calm;
  search_.end();  // the whole of it begins anew, with as many draws
}

void baseline::serve() {
  const int thief = at_.board().thief();
  if (thief == load_board::nobody) return;
  ++at_.counted.received;
  if (at_.has_idle_workers()) ++at_.counted.received_idle;
  // Before the answer, after which the next thief may set it.
  at_.board().clear_thief();
  if (!at_.ship(thief)) at_.refuse(thief);
}

void baseline::step(bool rested) {
  serve();
  hunt(rested);
  at_.publish(search_.is_on());
}

void baseline::hunt(bool rested) {
  // Whoever has been occupied is waited for.
  if (state_ != state::calm && !go_on()) return;
  if (!search_.goes_on(at_, rested)) return;
  for (int i = 0; i < draws_at_once && search_.may_draw(); ++i) {
    victim_ = at_.draw();
    if (victim_ == at_.me()) continue;
    state_ = state::reading;
    if (!go_on()) return;
  }
}

// False: the victim, or its board, has to answer first.
bool baseline::go_on() {
  if (state_ == state::reading) {
    const std::optional<int> load = at_.board().read(victim_);
    if (!load) return false;
    ++at_.counted.probes;
    state_ = *load > at_.chosen().threshold ? state::locking : state::calm;
  }
  if (state_ == state::locking) {
    const std::optional<bool> locked = at_.board().try_lock(victim_);
    if (!locked) return false;
    ++at_.counted.messages;
    state_ = state::calm;
    if (*locked) {
      at_.board().set_thief(victim_);
      ++at_.counted.messages;
      ++at_.counted.requests;
      ++in_phase_;
      state_ = state::waiting;
    }
  }
  return state_ == state::calm;
}

bool baseline::end() {
  serve();
  search_.end();
  if (state_ != state::calm && !go_on()) return false;
  in_phase_ = 0;
  at_.publish(false);
  return true;
}

}  // namespace filch::detail::places
