#include "places/success_only.hpp"

#include <algorithm>

namespace filch::detail::places {
success_only::success_only(steal_site& at) : at_(at), thieves_(at) {}

void success_only::asked(int thief, message_kind /*how*/) {
  thieves_.add(thief);
  ++at_.counted.received;
  if (at_.has_idle_workers()) ++at_.counted.received_idle;
}

void success_only::tasks_came(int from) {
  std::erase(contacted_, from);
  if (in_phase_ != 0) ++at_.counted.victims[std::min<std::size_t>(in_phase_, at_.counted.victims.size()) - 1];
  in_phase_ = 0;
  search_.end();
}

void success_only::step(bool rested) {
  thieves_.serve();
  hunt(rested);
  at_.publish(search_.is_on());
}

void success_only::hunt(bool rested) {
  if (!search_.goes_on(at_, rested)) return;
  // The thief waits until its request is there, or it would ask many places before the first could answer.
  if (sent_ && !at_.has_arrived(*sent_)) return;
  sent_.reset();
  for (int i = 0; i < draws_at_once; ++i) {
    if (!victim_) {
      if (!search_.may_draw()) return;
      const int drawn = at_.draw();
      if (drawn == at_.me() || has_contacted(drawn) || (!at_.chosen().cyclic_steals && thieves_.has(drawn))) continue;
      victim_ = drawn;
    }
    const std::optional<int> load = at_.board().read(*victim_);
    if (!load) return;
    ++at_.counted.probes;
    const int victim = *victim_;
    victim_.reset();
    if (*load <= at_.chosen().threshold) continue;
    if (thieves_.has(victim)) ++at_.counted.cyclic_steals;
    contacted_.push_back(victim);
    ++in_phase_;
    ++at_.counted.requests;
    sent_ = at_.ask_with_receipt(victim, message_kind::steal);
    return;
  }
}

bool success_only::has_contacted(int place) const noexcept {
  return std::find(contacted_.begin(), contacted_.end(), place) != contacted_.end();
}

bool success_only::end() {
  if (victim_ && !at_.board().read(*victim_)) return false;
  victim_.reset();
  if (sent_ && !at_.has_arrived(*sent_)) return false;
  sent_.reset();
  thieves_.drop();
  contacted_.clear();
  in_phase_ = 0;
  search_.end();
  at_.publish(false);
  return true;
}

}  // namespace filch::detail::places
