#include "places/steal_protocol.hpp"

#include <algorithm>
#include <utility>

#include "places/closures.hpp"

namespace filch::detail::places {

steal_site::steal_site(network& over, export_rings& rings, record_pools& records, const settings& chosen,
                       std::function<int()> idle_workers, std::uint64_t seed)
    : net_(over), rings_(rings), records_(records), chosen_(chosen), idle_(std::move(idle_workers)), seed_(seed) {}

void steal_site::publish(bool is_hunting) {
  const int load = is_hunting ? load_board::hunting : rings_.tasks();
  if (std::exchange(shown_, load) != load) net_.board().publish(load);
}

bool steal_site::ship(int to) {
  message m{.kind = message_kind::tasks, .finish = finish};
  for (int i = 0; i < chosen_.tasks_per_shipment && !has_idle_workers(); ++i) {
    task_record* const r = rings_.take_for_others();
    if (r == nullptr) break;
    const std::size_t before = m.contents.size();
    try {
      write_closure(*r, m);
      check_length(m.contents.size());
    } catch (...) {
      // It cannot be written, or is too long: it runs here.
      m.contents.resize(before);
      rings_.arrived_to_stay(*r);
      break;
    }
    r->type.load()->drop(*r);
    records_.put(*r, records_.of_network());
    ++counted.tasks_sent;
  }
  if (m.contents.empty()) return false;
  net_.send(to, std::move(m));
  ++counted.messages;
  return true;
}

void steal_site::refuse(int to) { ask(to, message_kind::no_tasks); }

void steal_site::ask(int whom, message_kind what) {
  net_.send(whom, {.kind = what, .finish = finish});
  ++counted.messages;
}

receipt steal_site::ask_with_receipt(int whom, message_kind what) {
  ++counted.messages;
  return net_.send_with_receipt(whom, {.kind = what, .finish = finish});
}

int steal_site::draw() noexcept {
  seed_ ^= seed_ << 13;
  seed_ ^= seed_ >> 7;
  seed_ ^= seed_ << 17;
  return static_cast<int>(seed_ * 0x2545F4914F6CDD1DULL % static_cast<std::uint64_t>(places()));
}

bool victim_search::goes_on(steal_site& at, bool rested) {
  if (!at.wants_tasks()) {
    is_on_ = false;
  } else if (!is_on_) {
    is_on_ = true;
    left_ = at.places();
    at.publish(true);  // before it looks at the others
  } else if (left_ == 0 && rested) {
    left_ = draws_at_nap;
  }
  return is_on_;
}

bool thief_queue::has(int place) const noexcept {
  return std::find(waiting_.begin(), waiting_.end(), place) != waiting_.end();
}

void thief_queue::serve() {
  std::size_t served = 0;
  while (served != waiting_.size() && at_.ship(waiting_[served])) ++served;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(served));
}

void thief_queue::drop() noexcept {
  at_.counted.dropped += waiting_.size();
  waiting_.clear();
}

}  // namespace filch::detail::places
