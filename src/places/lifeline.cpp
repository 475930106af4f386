#include "places/lifeline.hpp"

#include <algorithm>

namespace filch::detail::places {

void lifeline::asked(int thief, message_kind how) {
  ++at_.counted.received;
  if (at_.has_idle_workers()) ++at_.counted.received_idle;
  if (how == message_kind::steal) {
    thieves_.add(thief);
  } else if (!at_.ship(thief)) {
    at_.refuse(thief);
  }
}

void lifeline::tasks_came(int from) {
  if (victim_ == from) victim_.reset();
  std::erase(registered_, from);
  if (in_phase_ != 0) ++at_.counted.victims[std::min<std::size_t>(in_phase_, at_.counted.victims.size()) - 1];
  in_phase_ = 0;
  hunting_ = false;
}

void lifeline::refused(int by) {
  if (victim_ != by) return;
  victim_.reset();
  ++at_.counted.failed_steals;
}

void lifeline::step(bool /*rested*/) {
  thieves_.serve();
  hunt();
}

void lifeline::hunt() {
  if (victim_) return;
  if (!at_.wants_tasks()) {
    hunting_ = false;
    return;
  }
  if (!hunting_) {
    hunting_ = true;
    attempts_left_ = at_.places() > 1 ? at_.chosen().attempts : 0;
  }
  if (attempts_left_ > 0) {
    --attempts_left_;
    do {
      victim_ = at_.draw();
    } while (victim_ == at_.me());
    ++in_phase_;
    ++at_.counted.requests;
    at_.ask(*victim_, message_kind::attempt);
    return;
  }
  ask_lifelines();
}

void lifeline::ask_lifelines() {
  for (int distance = 1; distance < at_.places(); distance *= 2) {
    const int buddy = (at_.me() + distance) % at_.places();
    if (std::find(registered_.begin(), registered_.end(), buddy) != registered_.end()) continue;
    if (thieves_.has(buddy)) ++at_.counted.cyclic_steals;
    registered_.push_back(buddy);
    ++in_phase_;
    ++at_.counted.requests;
    at_.ask(buddy, message_kind::steal);
  }
}

bool lifeline::end() {
  hunting_ = false;
  if (victim_) return false;
  thieves_.drop();
  registered_.clear();
  in_phase_ = 0;
  return true;
}

}  // namespace filch::detail::places
