#include "deque/ring_deque.hpp"
#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

struct item {
  payload number;
};

void explore_ring_deque(std::int64_t capacity, std::size_t items, int thieves) {
  deque::ring_deque<item> deque(capacity);
  std::vector<item> all(items);
  account ran(items);
  const auto run = [&](const item& i) { ran.ran(static_cast<std::size_t>(i.number.load())); };
  const auto steal = [&] {
    for (int tries = 0; tries < 3; ++tries) {
      const auto seen = deque.oldest();
      if (seen.item != nullptr && deque.take(seen)) run(*seen.item);
      static_cast<void>(deque.last_taken());
    }
  };
  const auto own = [&] {
    std::size_t pushed = 0;
    const auto push = [&] {
      all[pushed].number.store(static_cast<int>(pushed));
      deque.push(&all[pushed++]);
    };
    const auto pop = [&] {
      if (item* const newest = deque.pop()) run(*newest);
    };
    // Up and down, so that one place in the ring serves several items.
    while (pushed < items) {
      push();
      if (pushed < items) push();
      pop();
    }
    for (std::size_t i = 0; i < items; ++i) pop();
  };
  std::vector<std::function<void()>> parts{own};
  for (int i = 0; i < thieves; ++i) parts.emplace_back(steal);
  in_parallel(parts);
  ran.check_all();
}

}  // namespace

void add_ring_deque(scenario_list& to) {
  to.push_back({"ring_deque", "an owner that pushes and pops, and one thief", [] { explore_ring_deque(4, 4, 1); }});
  to.push_back({"ring_deque_two_thieves", "the same with two thieves", [] { explore_ring_deque(4, 3, 2); }});
  to.push_back({"ring_deque_grows", "a ring of two that has to grow, twice", [] { explore_ring_deque(2, 9, 2); }});
}

}  // namespace filch::explore
