#include <array>

#include "deque/split_deque.hpp"
#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

using deque::split_deque;

/// An owner's side of the deque as the policy lace uses it, over a few tasks that are nothing but their payload. In
/// each round every slot is used for another task, so that indices and words come again.
class split_tasks {
 public:
  static constexpr split_deque::index slots = 3;

  explicit split_tasks(int rounds) : ran_(static_cast<std::size_t>(rounds) * slots), rounds_(rounds) {}

  void own() {
    for (int round = 0; round < rounds_; ++round) {
      for (split_deque::index i = 0; i < slots; ++i) payload_[i].store(static_cast<int>(round * slots + i));
      split_ = 1;
      all_stolen_ = false;
      deque_.share_first(0);
      if (!all_stolen_) {
        split_ = slots;
        deque_.grow(slots);
      }
      for (split_deque::index i = slots; i-- > 0;) join(i);
      deque_.next_epoch();
    }
    ended_ = true;
  }

  void steal(split_deque::index most, int tries) {
    for (; tries > 0 && !ended_; --tries) {
      const split_deque::view seen = deque_.load();
      if (!seen.something_shared()) {
        platform::pause();
        continue;
      }
      const split_deque::index count = std::min(most, seen.shared());
      if (!deque_.take(seen, count)) continue;
      for (split_deque::index i = seen.tail; i < seen.tail + count; ++i) {
        run(i);
        done_[i].store(true, std::memory_order_release);
      }
    }
  }

  void check_all() const { ran_.check_all(); }

 private:
  void run(split_deque::index i) { ran_.ran(static_cast<std::size_t>(payload_[i].load())); }

  void join(split_deque::index i) {
    if (i < split_ && !reclaim(i)) {
      while (!done_[i].load(std::memory_order_acquire)) platform::pause();
      done_[i].store(false, std::memory_order_relaxed);
      all_stolen_ = true;
      split_ = i;
      deque_.set_all_stolen(i);
      return;
    }
    run(i);
  }

  bool reclaim(split_deque::index i) {
    if (all_stolen_) return false;
    split_deque::index split = 0;
    switch (deque_.shrink(i, split)) {
      case split_deque::shrunk::reclaimed:
        split_ = split;
        return true;
      case split_deque::shrunk::all_stolen:
      case split_deque::shrunk::taken:
        break;
    }
    return false;
  }

  split_deque deque_;
  std::array<payload, slots> payload_;
  std::array<platform::atomic<bool>, slots> done_;
  account ran_;
  int rounds_;
  split_deque::index split_ = 0;
  bool all_stolen_ = true;
  bool ended_ = false;  // only saves steps
};

void explore_split_deque(int rounds, int thieves, split_deque::index most) {
  split_tasks tasks(rounds);
  std::vector<std::function<void()>> parts{[&] { tasks.own(); }};
  for (int i = 0; i < thieves; ++i) parts.emplace_back([&] { tasks.steal(most, 4); });
  in_parallel(parts);
  tasks.check_all();
}

}  // namespace

void add_split_deque(scenario_list& to) {
  to.push_back(
      {"split_deque", "an owner that shares, grows and shrinks, and one thief", [] { explore_split_deque(2, 1, 1); }});
  to.push_back({"split_deque_two_thieves", "the same with two thieves", [] { explore_split_deque(2, 2, 1); }});
  to.push_back(
      {"split_deque_several", "a thief that takes several tasks at once", [] { explore_split_deque(2, 2, 2); }});
}

}  // namespace filch::explore
