// Tasks that wait for each other in blocking regions and by futures, in every way that has an order: somebody is always left who
// runs what they wait for.
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support.hpp"

namespace filch {
namespace {

/// A tree of tasks. Some wait, before they begin their own, for the ends of others.
struct program {
  enum class construct : std::uint8_t { group, branches, heap_group, futures, when_all, group_and_call };
  static constexpr std::size_t constructs = 6;

  struct node {
    construct how{};
    bool by_future = false;  ///< it waits for futures, else in a blocking region
    std::vector<std::size_t> children;
    std::vector<std::size_t> waits_for;
  };
  std::vector<node> nodes;

  program(unsigned seed, std::size_t size) : nodes(size), random_(seed) {
    std::vector<std::size_t> parent(size);
    const std::size_t shape = draw(3);  // flat, any, deep
    for (std::size_t i = 1; i != size; ++i) {
      parent[i] = shape == 0 ? 0 : shape == 1 ? draw(i) : i - 1 - draw(std::min<std::size_t>(i, 8));
      nodes[parent[i]].children.push_back(i);
    }
    for (node& each : nodes) {
      each.how = static_cast<construct>(draw(constructs));
      each.by_future = draw(2) == 0;
    }
    add_waits(parent);
  }

 private:
  enum class step : std::uint8_t { begins, goes_on, ends };
  struct event {
    step what;
    std::size_t task;
  };

  std::size_t draw(std::size_t below) { return random_() % below; }

  // The tasks happen in some order in which a task's children begin after it and end before it. In that order each may wait
  // for what has ended.
  void add_waits(const std::vector<std::size_t>& parent) {
    constexpr std::array<std::size_t, 3> one_in{2, 5, 30};
    const std::size_t seldom = one_in.at(draw(one_in.size()));
    std::vector<event> possible{{step::begins, 0}};
    std::vector<std::size_t> ended;
    std::vector<std::size_t> ended_children(nodes.size());
    while (!possible.empty()) {
      std::swap(possible[draw(possible.size())], possible.back());
      const auto [what, task] = possible.back();
      possible.pop_back();
      node& here = nodes[task];
      if (what == step::begins) {
        possible.push_back({step::goes_on, task});
      } else if (what == step::goes_on) {
        if (!ended.empty() && draw(seldom) == 0) {
          for (std::size_t left = 1 + draw(2); left != 0; --left) here.waits_for.push_back(ended[draw(ended.size())]);
        }
        for (const std::size_t child : here.children) possible.push_back({step::begins, child});
        if (here.children.empty()) possible.push_back({step::ends, task});
      } else {
        ended.push_back(task);
        const std::size_t above = parent[task];
        if (task != 0 && ++ended_children[above] == nodes[above].children.size())
          possible.push_back({step::ends, above});
      }
    }
  }

  std::mt19937 random_;
};

class execution {
 public:
  execution(scheduler& pool, const program& what)
      : pool_(pool), what_(what), ends_(std::make_unique<end[]>(what.nodes.size())), ran_(what.nodes.size()) {}

  void run() {
    pool_.run([this] { run_task(0); });
    ASSERT_EQ(ran_.first_not(1), ran_.size());
  }

 private:
  struct end {
    std::mutex mutex;
    std::condition_variable comes;
    bool is_there = false;
    promise<> given;
    future<> by_future = given.get_future();
  };

  void await(std::size_t task, bool by_future) {
    end& of = ends_[task];
    if (by_future) return of.by_future.wait();
    const blocking here;
    std::unique_lock lock(of.mutex);
    of.comes.wait(lock, [&] { return of.is_there; });
  }

  void run_branches(const std::vector<std::size_t>& tasks, std::size_t first, std::size_t last) {
    if (last - first == 1) return run_task(tasks[first]);
    const std::size_t middle = first + (last - first) / 2;
    fork_join([&, first, middle] { run_branches(tasks, first, middle); },
              [&, middle, last] { run_branches(tasks, middle, last); });
  }

  void run_children(program::construct how, const std::vector<std::size_t>& children) {
    const auto run_in = [&](task_group& group, std::size_t first) {
      for (std::size_t i = first; i != children.size(); ++i)
        group.run([this, child = children[i]] { run_task(child); });
      if (first != 0) run_task(children.front());
      group.wait();
    };
    switch (how) {
      case program::construct::group:
      case program::construct::group_and_call: {
        task_group group;
        run_in(group, how == program::construct::group ? 0 : 1);
        break;
      }
      case program::construct::branches:
        run_branches(children, 0, children.size());
        break;
      case program::construct::heap_group: {
        const auto group = std::make_unique<task_group>();
        run_in(*group, 0);
        break;
      }
      case program::construct::futures:
      case program::construct::when_all: {
        std::vector<future<>> all;
        all.reserve(children.size());
        for (const std::size_t child : children) all.push_back(pool_.submit([this, child] { run_task(child); }));
        if (how == program::construct::when_all) return when_all(all).wait();
        for (const future<>& each : all) each.wait();
        break;
      }
    }
  }

  void run_task(std::size_t task) {
    const program::node& here = what_.nodes[task];
    for (const std::size_t other : here.waits_for) await(other, here.by_future);
    if (!here.children.empty()) run_children(here.how, here.children);
    ran_.ran(task);
    end& own = ends_[task];
    {
      const std::lock_guard lock(own.mutex);
      own.is_there = true;
      own.comes.notify_all();
    }
    own.given.put();
  }

  scheduler& pool_;
  const program& what_;
  std::unique_ptr<end[]> ends_;
  tests::account ran_;
};

class blocked_tasks : public testing::TestWithParam<tests::configuration> {};

TEST_P(blocked_tasks, end_in_whatever_order_they_wait_for_each_other) {
  scheduler pool(GetParam().options());
  for (unsigned seed = 0; seed != 400; ++seed) {
    SCOPED_TRACE(seed);
    const program what(seed, 2 + seed * 7919U % (seed % 8 == 0 ? 200 : 40));
    execution(pool, what).run();
    if (HasFatalFailure()) return;
  }
}

// Each has an iteration, and waits for that of the next. Who stands in for them does not divide what they were given.
TEST(blocked_loops, give_each_worker_an_iteration) {
  for (const std::string policy : {"adws", "adws_nosteal"}) {
    for (const int workers : {5, 8, 16}) {
      scheduler pool({.workers = workers, .policy = policy});
      for (int round = 0; round != 20; ++round) {
        std::vector<promise<>> ended(static_cast<std::size_t>(workers) + 1);
        std::vector<future<>> ends;
        for (promise<>& each : ended) ends.push_back(each.get_future());
        ended.back().put();
        tests::account ran(ends.size() - 1);
        pool.run([&] {
          parallel_for(std::size_t{0}, ran.size(), [&](std::size_t i) {
            ends[i + 1].wait();
            ran.ran(i);
            ended[i].put();
          });
        });
        ASSERT_EQ(ran.first_not(1), ran.size()) << policy << ' ' << workers;
      }
    }
  }
}

/// Those whose waits are safe, and adws_nosteal, of which that is true as long as no lock is held across a wait.
std::vector<tests::configuration> configurations_that_may_block() {
  std::vector<tests::configuration> safe = tests::safe_configurations({1, 2, 4});
  for (const int n : {1, 2, 4}) safe.push_back({"adws_nosteal", "transitive", false, n});
  return safe;
}

INSTANTIATE_TEST_SUITE_P(all, blocked_tasks, testing::ValuesIn(configurations_that_may_block()), tests::name_of);

}  // namespace
}  // namespace filch
