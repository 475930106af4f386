#include <array>

#include "deque/communication_cell.hpp"
#include "deque/request_cell.hpp"
#include "deque/transfer_cell.hpp"
#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

using deque::communication_cell;
using deque::request_cell;
using deque::slot_range;
using deque::transfer_cell;

/// Tasks that are nothing but their payload, and belong to whoever they were handed to.
class payloads {
 public:
  explicit payloads(std::uint32_t tasks) : number_(tasks), ran_(tasks) {}
  void make(std::uint32_t i) { number_[i].store(static_cast<int>(i)); }
  void run(slot_range what) {
    for (std::uint32_t i = what.first; i < what.first + what.count; ++i) {
      ran_.ran(static_cast<std::size_t>(number_[i].load()));
    }
  }
  void check_all() const { ran_.check_all(); }

 private:
  std::vector<payload> number_;
  account ran_;
};

/// An owner that answers requests as long as it has tasks, and then runs what is left.
class requests {
 public:
  static constexpr std::uint32_t tasks = 4;
  static constexpr std::size_t most_thieves = 2;

  void own() {
    for (std::uint32_t i = 0; i < tasks; ++i) {
      all_.make(i);
      ++made_;
      look_up();
      platform::pause();
    }
    while (!requests_.close()) answer();
    all_.run({.first = handed_, .count = made_ - handed_});
  }

  void steal(std::uint16_t thief, int tries) {
    transfer_cell& mine = transfer_[thief];
    for (; tries > 0; --tries) {
      const deque::request what{.thief = thief, .id = 0};
      mine.expect(thief);
      if (!requests_.is_open() || !requests_.put(what)) {
        platform::pause();
        continue;
      }
      platform::pause();
      if (mine.read().what == transfer_cell::outcome::awaited && requests_.withdraw(what)) continue;
      transfer_cell::answer got = mine.read();
      for (; got.what == transfer_cell::outcome::awaited; got = mine.read()) platform::pause();
      if (got.what == transfer_cell::outcome::handed_over) all_.run(got.tasks);
    }
  }

  void check_all() const { all_.check_all(); }

 private:
  void look_up() {
    const request_cell::state seen = requests_.look();
    if (seen == request_cell::state::asked) answer();
    if (seen == request_cell::state::closed) requests_.open();
  }
  void answer() {
    const auto asked = requests_.claim();
    if (!asked) return;
    transfer_cell& to = transfer_[asked->thief];
    if (made_ == handed_) return to.decline();
    const slot_range what{.first = handed_, .count = std::min(made_ - handed_, to.room() + 1)};
    handed_ += what.count;
    to.hand_over(what);
  }

  request_cell requests_;
  std::array<transfer_cell, most_thieves> transfer_;
  payloads all_{tasks};
  std::uint32_t made_ = 0;
  std::uint32_t handed_ = 0;
};

void explore_requests(std::uint16_t thieves) {
  requests cells;
  std::vector<std::function<void()>> parts{[&] { cells.own(); }};
  for (std::uint16_t i = 0; i < thieves; ++i) parts.emplace_back([&, i] { cells.steal(i, 3); });
  in_parallel(parts);
  cells.check_all();
}

/// A worker that waits now and then, and two dealers with tasks of their own: in one step or in two, of which the
/// second may be that there is nothing after all.
void explore_deals(bool two_steps) {
  constexpr std::uint32_t tasks = 3;
  communication_cell cell;
  payloads all(2 * tasks);
  // What a worker says of itself before it waits, like that it is about to sleep; and the truth (see `account`).
  platform::atomic<std::uint32_t> said{0};
  std::uint32_t round = 0;
  const auto wait = [&] {
    for (; round < 4; ++round) {
      said.store(round, std::memory_order_relaxed);
      cell.wait({}, round);
      platform::pause();
      while (!cell.cease()) {
        if (const auto got = cell.collect()) {
          all.run(got->tasks);
          break;
        }
        if (cell.is_busy()) break;  // taken back
        platform::pause();
      }
      check(cell.is_busy(), "a wait has ended and the cell waits");
    }
  };
  const auto deal = [&](std::uint16_t dealer) {
    const std::uint32_t end = tasks * (dealer + 1U);
    std::uint32_t next = end - tasks;
    for (std::uint32_t i = next; i < end; ++i) all.make(i);
    for (int tries = 0; tries < 4 && next < end; ++tries) {
      const auto seen = cell.look();
      if (!seen) {
        platform::pause();
        continue;
      }
      if (!two_steps) {
        if (!cell.put(*seen, {.dealer = dealer, .tasks = {.first = next, .count = 1}})) continue;
        const std::uint32_t truth = round;
        check(said.load(std::memory_order_relaxed) >= truth, "a dealer does not know who waits");
        ++next;
      } else if (cell.reserve(*seen)) {
        if (tries == 1) {
          cell.give_up(*seen);
          continue;
        }
        const slot_range some{.first = next, .count = std::min(end - next, cell.room() + 1)};
        next += some.count;
        cell.fill({.dealer = dealer, .tasks = some});
      }
    }
    if (const auto there = cell.uncollected(); there && there->dealer == dealer && cell.take_back(*there)) {
      next = there->tasks.first;
    }
    all.run({.first = next, .count = end - next});
  };
  in_parallel({wait, [&] { deal(0); }, [&] { deal(1); }});
  all.check_all();
}

}  // namespace

void add_cells(scenario_list& to) {
  to.push_back({"request_cell", "an owner that answers requests, and one thief", [] { explore_requests(1); }});
  to.push_back({"request_cell_two_thieves", "the same with two thieves", [] { explore_requests(2); }});
  to.push_back({"communication_cell", "a worker that waits, and two that deal", [] { explore_deals(false); }});
  to.push_back({"communication_cell_in_steps", "the same with the two-step protocol", [] { explore_deals(true); }});
}

}  // namespace filch::explore
