// Programs that nobody has written: all constructs inside of each other, on two schedulers and the default one, with futures and
// threads between them, or with locks. Each counts its leaves, and is compared with itself under policy `serial`. (The fuzzer,
// tests/fuzz, has one scheduler's constructs with exceptions, cancellation and misuse, and makes failing programs smaller.)
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

#include "support.hpp"

namespace filch {
namespace {

using count = std::uint64_t;

/// SplitMix64.
std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9e3779b97f4a7c15;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
  return seed ^ (seed >> 31);
}

/// A part of a program: the seed says what it does.
struct program_part {
  std::uint64_t seed;
  int depth;
  task_group* around = nullptr;  ///< some group whose tasks add to the sum
  std::atomic<count>* sum = nullptr;
};

class program {
 public:
  program(std::uint64_t seed, const std::array<options, 2>& chosen)
      : whole_{.seed = mixed(seed), .depth = 3 + static_cast<int>(seed % 4)},
        has_locks_(seed % 2 == 0),
        pools_{std::make_unique<scheduler>(chosen[0]), std::make_unique<scheduler>(chosen[1])} {}

  /// By whoever calls, which is the default scheduler's affair.
  count run() { return run(whole_); }
  count run_in_pool() {
    return pools_[0]->run([&] { return run(whole_); });
  }

  [[nodiscard]] std::uint64_t steals() const { return pools_[0]->stats().steals + pools_[1]->stats().steals; }

 private:
  using construct = count (program::*)(const program_part&);

  static count leaf(std::uint64_t seed) {
    for (std::uint64_t i = seed % 200; i != 0; --i) static_cast<void>(mixed(i));
    return 1 + seed % 5;
  }
  static std::size_t few(const program_part& p) { return 1 + (p.seed >> 40) % 4; }

  count run(const program_part& p) {
    if (p.depth <= 0) return leaf(p.seed);
    // Who holds a lock must not wait for what a scheduler has in a queue behind somebody who wants that lock.
    static constexpr auto always = std::to_array<construct>(
        {&program::forks, &program::groups, &program::groups_on_the_heap, &program::adds_to_its_group,
         &program::adds_to_the_group_around, &program::loops, &program::reduces, &program::pipes,
         &program::runs_a_graph, &program::blocks, &program::feeds, &program::throws, &program::counts_by_worker,
         &program::sorts, &program::invokes});
    static constexpr auto with_locks = std::to_array<construct>({&program::locks});
    static constexpr auto without =
        std::to_array<construct>({&program::submits, &program::continues, &program::joins_futures,
                                  &program::changes_scheduler, &program::starts_a_thread});
    const std::size_t more = has_locks_ ? with_locks.size() : without.size();
    const std::size_t which = (p.seed >> 8) % (always.size() + more);
    if (which < always.size()) return (this->*always[which])(p);
    return (this->*(has_locks_ ? with_locks[which - always.size()] : without[which - always.size()]))(p);
  }
  count child(const program_part& p, std::size_t which) {
    program_part of = p;
    of.seed = mixed(p.seed + which);
    of.depth -= 1 + static_cast<int>(which % 2);
    return run(of);
  }
  scheduler& some_pool(const program_part& p) { return *pools_[(p.seed >> 20) % pools_.size()]; }

  count forks(const program_part& p) {
    const auto [a, b] = fork_join([&] { return child(p, 0); }, [&] { return child(p, 1); });
    return a + b;
  }
  count fill(task_group& group, const program_part& p) {
    std::atomic<count> sum = 0;
    for (std::size_t i = 0; i != few(p); ++i) group.run([&, i] { sum += child(p, i); });
    sum += child(p, 9);
    group.wait();
    return sum;
  }
  count groups(const program_part& p) {
    task_group group;
    return fill(group, p);
  }
  count groups_on_the_heap(const program_part& p) { return fill(*std::make_unique<task_group>(), p); }
  count adds_to_its_group(const program_part& p) {
    std::atomic<count> sum = 0;
    task_group group;
    const program_part inside{.seed = p.seed, .depth = p.depth, .around = &group, .sum = &sum};
    group.run([&] { sum += child(inside, 0); });
    sum += child(inside, 1);
    group.wait();
    return sum;
  }
  count adds_to_the_group_around(const program_part& p) {
    if (p.around == nullptr) return child(p, 0);
    for (std::size_t i = 0; i != few(p); ++i) p.around->run([this, p, i] { *p.sum += child(p, i); });
    return 0;
  }
  count loops(const program_part& p) {
    std::atomic<count> sum = 0;
    parallel_for(std::size_t{0}, 3 * few(p),
                 [&](std::size_t i) { sum += i % 3 == 0 ? child(p, i) : leaf(p.seed + i); });
    return sum;
  }
  count reduces(const program_part& p) {
    return parallel_reduce(std::size_t{0}, 2 * few(p), count{0},
                           [&](std::size_t i) { return i % 2 == 0 ? child(p, i) : leaf(p.seed + i); });
  }
  count pipes(const program_part& p) {
    std::size_t left = 2 * few(p);
    count sum = 0;
    pipeline(
        1 + (p.seed >> 30) % 4, [&] { return left != 0 ? std::optional<std::size_t>(--left) : std::nullopt; },
        parallel([&](std::size_t i) { return child(p, i); }), serial([](count n) { return n; }),
        serial_in_order([&](count n) { sum += n; }));
    return sum;
  }
  count runs_a_graph(const program_part& p) {
    std::atomic<count> sum = 0;
    task_graph graph;
    const auto first = graph.add([&] { sum += child(p, 0); });
    const auto left = graph.add([&] { sum += child(p, 1); }, {first});
    const auto right = graph.add([&] { sum += child(p, 2); }, {first});
    graph.add([&] { sum += leaf(p.seed); }, {left, right});
    graph.run();
    return sum;
  }
  count blocks(const program_part& p) {
    const blocking here;
    if (p.seed % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(p.seed % 50));
    return child(p, 0);
  }
  count feeds(const program_part& p) {
    std::atomic<count> sum = 0;
    std::vector<std::size_t> items(few(p), 2);
    for_each_dynamic(items, [&](std::size_t links, feeder<std::size_t>& more) {
      sum += links == 2 ? child(p, links) : leaf(p.seed + links);
      if (links != 0) more.push(links - 1);
    });
    return sum;
  }
  count throws(const program_part& p) {
    const count below = child(p, 0);
    task_group group;
    group.run([] { throw 1; });
    group.run([&] { leaf(p.seed); });
    try {
      group.wait();
    } catch (int one) {
      return below + static_cast<count>(one);
    }
    return 0;
  }
  count counts_by_worker(const program_part& p) {
    worker_local<count> counts(count{0});
    parallel_for(std::size_t{0}, few(p), [&](std::size_t i) {
      const count below = child(p, i);  // first: meanwhile the worker may run other iterations
      counts.local() += below;
    });
    return counts.combine(std::plus<>());
  }
  count sorts(const program_part& p) {
    std::vector<std::uint64_t> data(300 * few(p));
    for (std::size_t i = 0; i != data.size(); ++i) data[i] = mixed(p.seed + i);
    parallel_sort(data);
    return child(p, 0) + (std::ranges::is_sorted(data) ? 1 : 0);
  }
  count invokes(const program_part& p) {
    std::array<count, 3> all{};
    parallel_invoke([&] { all[0] = child(p, 0); }, [&] { all[1] = child(p, 1); }, [&] { all[2] = leaf(p.seed); });
    return all[0] + all[1] + all[2];
  }
  count locks(const program_part& p) {
    const std::lock_guard hold(locks_.at(static_cast<std::size_t>(p.depth)));  // the outer ones first
    return child(p, 0);
  }
  count submits(const program_part& p) {
    const auto other = this_worker().home_or_default().submit([this, p] { return child(p, 0); });
    const count own = child(p, 1);
    return own + other.get();
  }
  count continues(const program_part& p) {
    return some_pool(p)
        .submit([this, p] { return child(p, 0); })
        .then([this, p](count n) { return n + child(p, 1); })
        .get();
  }
  count joins_futures(const program_part& p) {
    std::vector<future<count>> all;
    for (std::size_t i = 0; i != few(p); ++i) all.push_back(some_pool(p).submit([this, p, i] { return child(p, i); }));
    return when_all(std::move(all))
        .then([](const std::vector<future<count>>& each) {
          count sum = 0;
          for (const auto& one : each) sum += one.get();
          return sum;
        })
        .get();
  }
  count changes_scheduler(const program_part& p) {
    return some_pool(p).run([&] { return child(p, 0); });
  }
  count starts_a_thread(const program_part& p) {
    count n = 0;
    std::thread other([&] { n = child(p, 0); });
    const blocking here;
    other.join();
    return n;
  }

  program_part whole_;
  bool has_locks_;
  std::array<std::mutex, 8> locks_;
  std::array<std::unique_ptr<scheduler>, 2> pools_;
};

options drawn(std::uint64_t seed) {
  std::vector<std::string> policies;
  for (const auto& c : combinations()) {
    if (c.policy != "serial") policies.emplace_back(c.policy);
  }
  const std::uint64_t bits = mixed(seed);
  options chosen{.workers = 1 + static_cast<int>(bits % 4), .policy = policies[(bits >> 8) % policies.size()]};
  if ((bits >> 32) % 5 == 0) chosen.stack_bytes = 4096;
  return chosen;
}

TEST(mixture, of_all_constructs_counts_as_serial_code_does) {
  const std::uint64_t programs = tests::full_product_wanted() ? 2000 : 80;
  std::uint64_t steals = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    SCOPED_TRACE(seed);
    const options serial{.policy = "serial"};
    const count expected = program(seed, {serial, serial}).run_in_pool();
    program parallel(seed, {drawn(2 * seed), drawn(2 * seed + 1)});
    EXPECT_EQ(parallel.run(), expected);
    EXPECT_EQ(parallel.run_in_pool(), expected);
    EXPECT_EQ(parallel.run_in_pool(), expected);
    steals += parallel.steals();
  }
  EXPECT_GT(steals, 0U);
}

}  // namespace
}  // namespace filch
