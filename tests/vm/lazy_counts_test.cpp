// Table II and Table XVI of the lazy-scheduling paper (Tzannes and others 2014): how many deque transactions and
// synchronizations each way of splitting a loop costs in the worst, the intermediate and the best case, exactly; and
// how much room the descriptors take.
//
// N iterations, a grain of g, K P chunks for the auto partitioner; m = N / g. Where the paper leaves out what a loop
// that was never cut costs it still counts one synchronization, which filch does without, as the paper suggests.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>

#include "loop/eager.hpp"
#include "scheduler/configuration.hpp"
#include "scheduler/scheduler_core.hpp"
#include "vm/machine/machine_file.hpp"
#include "vm/machine/many_core.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/policy.hpp"
#include "worker/sleepers.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::platform::vm {

using namespace detail;

namespace {

/// What a loop cost.
struct cost {
  std::uint64_t transactions;
  std::uint64_t synchronizations;
  friend bool operator==(const cost&, const cost&) = default;
  friend std::ostream& operator<<(std::ostream& to, const cost& c) {
    return to << c.transactions << " transactions, " << c.synchronizations << " synchronizations";
  }
};

cost cost_of(const statistics& counted) { return {counted.transactions, counted.synchronizations + counted.coalesced}; }

machine_description any_machine() { return load_machine("generic", MACHINES_FOLDER); }

/// A body that says which iterations ran, each of them once.
class iterations {
 public:
  explicit iterations(std::uint64_t n) : ran_(n) {}
  void run(std::uint64_t i) { EXPECT_EQ(++ran_[i], 1) << "iteration " << i; }
  void check_all() const {
    for (std::size_t i = 0; i < ran_.size(); ++i) EXPECT_EQ(ran_[i], 1) << "iteration " << i;
  }

 private:
  std::vector<int> ran_;
};

struct shape {
  std::uint64_t n;
  std::uint64_t grain;
};
constexpr shape shapes[] = {{16, 1}, {64, 4}, {1024, 1}, {4096, 32}, {2, 1}};

/// The policy under which loops of that kind are looked at.
std::string policy_for(loop_kind kind) {
  const std::string name(name_of(kind));
  return name.starts_with("lazy_") ? name : "chase_lev";
}

/// No thefts, the deque empty: one worker.
cost intermediate(splitting how, std::uint64_t n) {
  cost result{};
  many_core world(any_machine(), 1, 1);
  world.run([&] {
    scheduler pool({.workers = 1, .policy = policy_for(how.kind)});
    iterations seen(n);
    pool.run([&] { parallel_for(std::uint64_t{0}, n, [&](std::uint64_t i) { seen.run(i); }, how); });
    seen.check_all();
    result = cost_of(pool.stats());
  });
  return result;
}

/// No thefts, and something on offer already: the loop is inside of another one, which has given to the deque.
cost best(splitting how, std::uint64_t n) {
  cost before{};
  cost after{};
  many_core world(any_machine(), 1, 1);
  world.run([&] {
    scheduler pool({.workers = 1, .policy = policy_for(how.kind)});
    iterations seen(n);
    pool.run([&] {
      parallel_for(
          0, 4,
          [&](int outer) {
            if (outer != 0) return;
            before = cost_of(pool.stats());
            parallel_for(std::uint64_t{0}, n, [&](std::uint64_t i) { seen.run(i); }, how);
            after = cost_of(pool.stats());
          },
          splitting{how.kind, 1});
    });
    seen.check_all();
  });
  return {after.transactions - before.transactions, after.synchronizations - before.synchronizations};
}

/// Workers that are driven by hand, in one thread: whatever one puts on offer, the next takes at once and runs.
class robbed_at_once final : public policy {
 public:
  explicit robbed_at_once(splitting how)
      : how_(how),
        home_({.workers = 1, .policy = policy_for(how.kind)}),
        idle_(everybody_),
        interrupts_(everybody_, 0),
        rules_(make_policy(home_.core().chosen())) {}

  cost run(std::uint64_t n) {
    iterations seen(n);
    worker& first = add_worker();
    detail::self = &first;
    parallel_for(
        std::uint64_t{0}, n,
        [&](std::uint64_t i) {
          // Eager ways have put everything on offer before the first iteration.
          rob(static_cast<worker&>(*detail::self));
          seen.run(i);
        },
        how_);
    detail::self = &detail::foreign_worker;
    seen.check_all();
    cost total{};
    for (std::uint32_t i = 0; i < everybody_.size(); ++i) {
      const counters& of = everybody_[i].counted;
      total.transactions += of.transactions.load(std::memory_order_relaxed);
      total.synchronizations += of.synchronizations.load(std::memory_order_relaxed);
      EXPECT_EQ(of.coalesced.load(std::memory_order_relaxed), 0U) << "a piece was taken back";
    }
    return total;
  }

  [[nodiscard]] std::unique_ptr<offer> make_offer() const override { return rules_->make_offer(); }
  void answer(worker& w) noexcept override {
    do {
      rules_->answer(w);
    } while (rob(w));
  }
  void offer_all(worker& w) noexcept override { rules_->offer_all(w); }
  [[nodiscard]] bool reclaim(worker& w, detail::slot& s) noexcept override { return rules_->reclaim(w, s); }
  void rejoin(worker& w, detail::slot& s) noexcept override { rules_->rejoin(w, s); }
  void piece_taken_back(worker& w) noexcept override { rules_->piece_taken_back(w); }
  [[nodiscard]] bool can_be_asked() const noexcept override { return rules_->can_be_asked(); }
  bool acquire(worker& w) noexcept override { return rules_->acquire(w); }
  [[nodiscard]] bool work_visible(worker& w) noexcept override { return rules_->work_visible(w); }
  bool help(worker& w, lineage awaited, detail::work_share* adopter) noexcept override {
    return rules_->help(w, awaited, adopter);
  }
  [[nodiscard]] bool help_visible(worker& w, lineage awaited) noexcept override {
    return rules_->help_visible(w, awaited);
  }

 private:
  worker& add_worker() {
    const auto number = static_cast<std::uint16_t>(everybody_.size());
    everybody_.add(std::make_unique<worker>(number, home_.core(),
                                            common_parts{everybody_, idle_, interrupts_, *this, home_.core().spares(),
                                                         mutexes_, 1, patience::spin_ns, "recorded", false},
                                            4096));
    everybody_[number].offered = make_offer();
    everybody_[number].loops.kind = how_.kind;
    return everybody_[number];
  }

  bool rob(worker& victim) {
    bool robbed = false;
    while (const seen_piece seen = victim.pieces.oldest(0)) {
      worker& thief = add_worker();
      detail::worker_core* const before = std::exchange(detail::self, &thief);
      EXPECT_TRUE(thief.run_piece(seen, victim, [&] { thief.count(&counters::transactions); }));
      detail::self = before;
      victim.raise();  // as a thief of the lazy policies does
      robbed = true;
    }
    return robbed;
  }

  splitting how_;
  scheduler home_;
  team everybody_;
  sleepers idle_;
  interrupter interrupts_;
  striped_mutex mutexes_;
  std::unique_ptr<policy> rules_;
};

cost worst(splitting how, std::uint64_t n) {
  cost result{};
  many_core world(any_machine(), 1, 1);
  world.run([&] { result = robbed_at_once(how).run(n); });
  return result;
}

std::uint64_t log2_of(std::uint64_t power) { return static_cast<std::uint64_t>(std::countr_zero(power)); }

TEST(table2, depth_first_lazy) {
  for (const auto& [n, g] : shapes) {
    const std::uint64_t m = n / g;
    const splitting how = loop::lazy_depth{g};
    EXPECT_EQ(worst(how, n), (cost{2 * (m - 1), m})) << n << "/" << g;
    EXPECT_EQ(intermediate(how, n), (cost{log2_of(m) + 1, log2_of(m) + 1})) << n << "/" << g;
    EXPECT_EQ(best(how, n), (cost{0, 0})) << n << "/" << g;  // the paper: one synchronization that can be left out
  }
}

TEST(table2, breadth_first_lazy_costs_the_same_for_a_flat_loop) {
  for (const auto& [n, g] : shapes) {
    const std::uint64_t m = n / g;
    const splitting how = loop::lazy_breadth{g};
    EXPECT_EQ(worst(how, n), (cost{2 * (m - 1), m})) << n << "/" << g;
    EXPECT_EQ(intermediate(how, n), (cost{log2_of(m) + 1, log2_of(m) + 1})) << n << "/" << g;
    EXPECT_EQ(best(how, n), (cost{0, 0})) << n << "/" << g;
  }
}

TEST(table2, simple) {
  for (const auto& [n, g] : shapes) {
    const std::uint64_t m = n / g;
    const splitting how = loop::simple{g};
    EXPECT_EQ(worst(how, n), (cost{2 * (m - 1), m})) << n << "/" << g;
    EXPECT_EQ(intermediate(how, n), (cost{3 * m / 2 - 1, m})) << n << "/" << g;
    EXPECT_EQ(best(how, n), (cost{3 * m / 2 - 1, m})) << n << "/" << g;
  }
}

TEST(table2, automatic) {
  // K = 4 and one processor: four chunks, which the worst case cuts further since each theft allows four more.
  constexpr std::uint64_t chunks = automatic_chunks_per_worker;
  for (const std::uint64_t n : {16U, 64U, 1024U}) {
    const splitting how = loop::automatic{};
    EXPECT_EQ(intermediate(how, n), (cost{3 * chunks / 2 - 1, chunks})) << n;
    EXPECT_EQ(best(how, n), (cost{3 * chunks / 2 - 1, chunks})) << n;
  }
  // The paper's worst case: no more iterations than processors, so that every chunk is one.
  for (const std::uint64_t n : {2U, 4U}) EXPECT_EQ(worst(loop::automatic{}, n), (cost{2 * (n - 1), n})) << n;
}

TEST(table2, work_first) {
  for (const auto& [n, g] : shapes) {
    const std::uint64_t m = n / g;
    const splitting how = loop::work_first{g};
    EXPECT_EQ(worst(how, n), (cost{2 * (m - 1), m})) << n << "/" << g;
    EXPECT_EQ(intermediate(how, n), (cost{m, m})) << n << "/" << g;
    EXPECT_EQ(best(how, n), (cost{m, m})) << n << "/" << g;
  }
}

TEST(table2, help_first) {
  for (const auto& [n, g] : shapes) {
    const std::uint64_t m = n / g;
    const splitting how = loop::help_first{g};
    EXPECT_EQ(worst(how, n), (cost{2 * (m - 1), m})) << n << "/" << g;
    EXPECT_EQ(intermediate(how, n), (cost{2 * (m - 1), m})) << n << "/" << g;
    EXPECT_EQ(best(how, n), (cost{2 * (m - 1), m})) << n << "/" << g;
  }
}

/// Most descriptors that one worker has at a time in a loop of n iterations that nobody steals from, the one that it
/// runs included.
std::uint64_t most_descriptors(splitting how, std::uint64_t n) {
  std::uint64_t most = 0;
  many_core world(any_machine(), 1, 1);
  world.run([&] {
    scheduler pool({.workers = 1, .policy = policy_for(how.kind)});
    pool.run([&] {
      parallel_for(
          std::uint64_t{0}, n,
          [&](std::uint64_t /*i*/) {
            auto& w = static_cast<worker&>(*detail::self);
            most = std::max<std::uint64_t>(most, w.pieces.count_offered(1U << 20) + 1);
          },
          how);
    });
  });
  return most;
}

TEST(table16, space) {
  for (const std::uint64_t n : {16U, 256U, 4096U}) {
    EXPECT_EQ(most_descriptors(loop::work_first{1}, n), 2U) << n;
    EXPECT_EQ(most_descriptors(loop::help_first{1}, n), n) << n;
    EXPECT_EQ(most_descriptors(loop::simple{1}, n), log2_of(n) + 1) << n;
    EXPECT_EQ(most_descriptors(loop::automatic{}, n), log2_of(automatic_chunks_per_worker) + 1) << n;
    EXPECT_EQ(most_descriptors(loop::lazy_depth{1}, n), 2U) << n;
    EXPECT_EQ(most_descriptors(loop::lazy_depth2{1}, n), 3U) << n;
    EXPECT_EQ(most_descriptors(loop::lazy_breadth{1}, n), 2U) << n;
  }
}

/// Nested loops, in which lazy scheduling still has no more than its threshold on offer.
TEST(table16, space_of_lazy_scheduling_does_not_grow_with_the_nesting) {
  for (const loop_kind kind : {loop_kind::lazy_depth, loop_kind::lazy_depth2, loop_kind::lazy_breadth}) {
    unsigned most = 0;
    many_core world(any_machine(), 1, 1);
    world.run([&] {
      scheduler pool({.workers = 1, .policy = policy_for(kind)});
      const std::function<void(int)> nest = [&](int depth) {
        auto& w = static_cast<worker&>(*detail::self);
        most = std::max(most, w.pieces.count_offered(100));
        if (depth != 0) parallel_for(0, 4, [&](int /*i*/) { nest(depth - 1); });
      };
      pool.run([&] { nest(5); });
    });
    EXPECT_EQ(most, kind == loop_kind::lazy_depth2 ? 2U : 1U) << name_of(kind);
  }
}

}  // namespace
}  // namespace filch::platform::vm
