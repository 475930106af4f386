// Bags: the pieces that they share, taken by thieves, taken back by their owners, or both at once.
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

/// Items 0 to n - 1; item i brings 2 i + 1 and 2 i + 2. What an item brings sees what the item did, and the caller sees
/// what all of them did.
void explore_bag(const options& chosen, std::size_t n, sharing how) {
  scheduler pool(chosen);
  account ran(n);
  std::vector<payload> results(n);
  const std::array<std::size_t, 1> root{0};
  pool.run([&] {
    for_each_dynamic(
        root.begin(), root.end(),
        [&](std::size_t& i, feeder<std::size_t>& more) {
          ran.ran(i);
          check(i == 0 || results[(i - 1) / 2].load() == 1, "an item does not see what brought it");
          results[i].store(1);
          for (std::size_t child = 2 * i + 1; child < 2 * i + 3; ++child) {
            if (child < n) more.push(child);
          }
        },
        how);
    for (const payload& result : results) check(result.load() == 1, "a result got lost");
  });
  ran.check_all();
}

/// A chain: an even item brings the next even one, and the odd one after itself, which its worker processes first. So
/// that worker waits for the thief of the next even item, takes what the thief has shared of it into its own part, and
/// the thief waits in its turn. The even item `failing` throws.
void explore_chain(const options& chosen, std::size_t n, sharing how, std::size_t failing) {
  scheduler pool(chosen);
  account ran(n);
  std::vector<payload> results(n);
  const auto alive = std::make_shared<int>(0);
  using item = std::pair<std::size_t, std::shared_ptr<int>>;
  bool caught = false;
  pool.run([&] {
    work_bag<item> bag;
    bag.emplace(0U, alive);
    try {
      bag.process(
          [&](item& mine, feeder<item>& more) {
            const std::size_t i = mine.first;
            ran.ran(i);
            check(i == 0 || results[i - 2 + i % 2].load() == 1, "an item does not see what brought it");
            results[i].store(1);
            if (i == failing) throw std::runtime_error("one");
            if (i % 2 != 0) return;
            if (i + 2 < n) more.emplace(i + 2, alive);
            if (i + 1 < n) more.emplace(i + 1, alive);
          },
          how);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    check(caught == (failing < n), "an exception got lost");
    check(alive.use_count() == 1, "an item that was dropped is still there");
    if (failing < n) return;
    for (const payload& result : results) check(result.load() == 1, "a result got lost");
  });
  if (failing >= n) ran.check_all();
}

/// One chunk is shared before the first item begins: the thief is about to take it when its owner, who has nothing
/// else left, takes it back. Twice, with the same record.
void explore_take_back(const options& chosen, sharing how) {
  scheduler pool(chosen);
  account ran(4);
  payload results[4];
  pool.run([&] {
    for (std::size_t round = 0; round < 2; ++round) {
      work_bag<std::size_t> bag;
      bag.push(2 * round);
      bag.push(2 * round + 1);
      bag.process(
          [&](std::size_t& i, feeder<std::size_t>&) {
            ran.ran(i);
            results[i].store(1);
          },
          how);
      for (std::size_t i = 2 * round; i < 2 * round + 2; ++i) check(results[i].load() == 1, "a result got lost");
    }
  });
  ran.check_all();
}

/// The owner's item waits, without a look around, for the other one, which is on offer: whoever sleeps by then must
/// have been woken by that very offer.
void explore_wake_up(const options& chosen, sharing how) {
  scheduler pool(chosen);
  pool.run([&] {
    platform::atomic<bool> begun{false};
    work_bag<std::size_t> bag;
    bag.push(0);
    bag.push(1);
    bag.process(
        [&](std::size_t& i, feeder<std::size_t>&) {
          if (i == 0) begun.store(true, std::memory_order_release);
          while (!begun.load(std::memory_order_acquire)) platform::pause();
        },
        how);
  });
}

/// Whoever throws, and whoever has what is left then: no item outlives the bag, none is running.
void explore_exception(const options& chosen, sharing how) {
  scheduler pool(chosen);
  const auto alive = std::make_shared<int>(0);
  using item = std::pair<std::size_t, std::shared_ptr<int>>;
  bool caught = false;
  bool running = false;
  pool.run([&] {
    work_bag<item> bag;
    for (std::size_t i = 0; i < 4; ++i) bag.emplace(i, alive);
    try {
      bag.process(
          [&](item& i, feeder<item>&) {
            if (i.first == 1) throw std::runtime_error("one");
            if (i.first != 0) return;
            running = true;
            fork_join([] {}, [] {});
            running = false;
          },
          how);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    check(caught, "an exception got lost");
    check(!running, "an item outlives its bag");
    check(alive.use_count() == 1, "an item that was dropped is still there");
  });
}

}  // namespace

void add_bags(scenario_list& to) {
  to.push_back({"bag_standard", "a bag that is shared when somebody asks",
                [] { explore_bag(small(2, "lace", "transitive"), 7, bag::standard{}); }});
  to.push_back({"bag_eager_chunker", "a bag whose items are all shared at once",
                [] { explore_bag(small(3, "lace", "transitive"), 5, bag::eager_chunker{}); }});
  to.push_back({"bag_naive_lazy", "a bag of which one item is on offer",
                [] { explore_bag(small(2, "chase_lev", "transitive"), 7, bag::naive_lazy{}); }});
  to.push_back({"bag_steal_half", "thieves that take half of the chunks",
                [] { explore_bag(small(2, "lace", "transitive"), 9, bag::steal_half{}); }});
  to.push_back({"bag_steal_half_of_three", "the same, robbed in turn",
                [] { explore_bag(small(3, "lace", "transitive"), 7, bag::steal_half{}); }});
  to.push_back({"bag_lazy_splitter", "a bag of which half is on offer",
                [] { explore_bag(small(3, "lazy_breadth", "transitive"), 7, bag::lazy_splitter{}); }});
  constexpr std::size_t none = 100;
  to.push_back({"bag_chain", "a chain that two workers take from each other in turn",
                [] { explore_chain(small(2, "lace", "transitive"), 8, bag::eager_chunker{}, none); }});
  to.push_back({"bag_chain_of_three", "the same with three workers, and chunks taken from the middle",
                [] { explore_chain(small(3, "lace", "leapfrog"), 8, bag::steal_half{}, none); }});
  to.push_back({"bag_chain_asked", "the same, shared when somebody asks",
                [] { explore_chain(small(2, "lace", "transitive"), 8, bag::standard{}, none); }});
  to.push_back({"bag_chain_dealt", "the same, dealt to who waits",
                [] { explore_chain(small(2, "sender", "transitive"), 8, bag::standard{}, none); }});
  to.push_back({"bag_chain_exception", "the same, which ends early",
                [] { explore_chain(small(3, "lace", "transitive"), 8, bag::eager_chunker{}, 4); }});
  to.push_back({"bag_take_back", "one chunk that thief and owner want at the same time",
                [] { explore_take_back(small(2, "lace", "transitive"), bag::eager_chunker{}); }});
  to.push_back({"bag_wake_up", "a chunk on offer wakes whoever sleeps",
                [] { explore_wake_up(small(2, "lace", "transitive"), bag::eager_chunker{}); }});
  to.push_back({"bag_exception", "a bag that ends early",
                [] { explore_exception(small(2, "lace", "transitive"), bag::steal_half{}); }});
}

}  // namespace filch::explore
