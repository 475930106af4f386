// When is a finish over? The counts and waves of docs/protocols/termination.md, without the rest of a place.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "places/termination.hpp"
#include "places/tree.hpp"
#include "places/virtual_network.hpp"
#include "platform/clock.hpp"
#include "scenario.hpp"

namespace filch::explore {
namespace {

using detail::places::message;
using detail::places::message_kind;
using detail::places::message_reader;
using detail::places::message_writer;
using detail::places::place_error;

constexpr std::size_t of_worker = 0;
constexpr std::size_t of_looker = 1;

/// What is left of a place: somebody who looks at the network, counts, and waves.
class wave_place {
 public:
  wave_place() : net_(detail::places::connect_virtual_network()), counts_(2), waves_(*net_, 0), end_(counts_, waves_) {}

  [[nodiscard]] int number() const { return net_->place(); }
  [[nodiscard]] detail::places::task_counts& counts() { return counts_; }
  [[nodiscard]] const std::optional<place_error>& error() const { return end_.error(); }

  /// Sends a task, which was counted before.
  void send(int to, std::size_t task) {
    message m{.kind = message_kind::bodies};
    message_writer(m).add(task);
    net_->send(to, std::move(m));
  }
  /// Looks once. True: the finish is over. It joins a wave whenever it can: being idle is only a hint.
  bool look(const std::function<void(std::size_t task)>& run, const std::optional<place_error>& own = {}) {
    message m;
    while (net_->receive(m)) {
      if (m.kind == message_kind::bodies) {
        run(message_reader(m).get<std::size_t>());
      } else {
        waves_.handle(m);
      }
    }
    return end_.step(true, [&] { return own; });
  }

 private:
  std::unique_ptr<detail::places::network> net_;
  detail::places::task_counts counts_;
  detail::places::tree waves_;
  detail::places::termination end_;
};

/// Task i makes tasks 2i+1 and 2i+2 and sends them to two other places, or one twice.
void explore_in_flight(int count, std::size_t tasks, int finishes) {
  std::vector<account> ran;
  for (int i = 0; i < finishes; ++i) ran.emplace_back(tasks);
  platform::vm::at_each_node(count, [&] {
    wave_place here;
    for (account& now : ran) {
      const std::function<void(std::size_t)> run = [&](std::size_t task) {
        for (const std::size_t child : {2 * task + 1, 2 * task + 2}) {
          if (child >= tasks) continue;
          here.counts().made(of_looker);
          here.send((here.number() + 1 + static_cast<int>(child % 2)) % count, child);
        }
        now.ran(task);
        here.counts().ended(of_looker);
      };
      // The body, as place::begin_finish() has it; the last place has the first task.
      here.counts().made(of_looker);
      if (here.number() == count - 1) {
        here.counts().made(of_looker);
        run(0);
      }
      here.counts().ended(of_looker);
      while (!here.look(run)) platform::pause();
      now.check_all();
    }
  });
}

/// A cell between a worker and whoever looks at the network: holds a task + 1.
class hand_over {
 public:
  void put(std::size_t task) { cell_.store(task + 1, std::memory_order_release); }
  [[nodiscard]] std::optional<std::size_t> get() {
    const std::size_t found = cell_.load(std::memory_order_acquire);
    if (found == 0) return std::nullopt;
    cell_.store(0, std::memory_order_release);
    return found - 1;
  }

 private:
  platform::atomic<std::size_t> cell_{0};
};

/// A chain of tasks that workers run, each at the next place. What they have counted is seen when it is seen.
void explore_workers(int count, std::size_t tasks) {
  std::vector<payload> did(tasks);
  account ran(tasks);
  platform::vm::at_each_node(count, [&] {
    wave_place here;
    const auto me = static_cast<std::size_t>(here.number());
    const auto places = static_cast<std::size_t>(count);
    hand_over in;
    hand_over out;
    here.counts().made(of_looker);  // the body: in it, place 0 makes the first task
    if (me == 0) {
      here.counts().made(of_looker);
      in.put(0);
    }
    here.counts().ended(of_looker);
    in_parallel({[&] {
                   while (!here.look([&](std::size_t task) { in.put(task); })) {
                     if (const auto next = out.get()) here.send((here.number() + 1) % count, *next);
                     platform::pause();
                   }
                   ran.check_all();
                   for (const payload& each : did) check(each.load() == 1, "what a task has done got lost");
                 },
                 [&] {
                   for (std::size_t mine = me; mine < tasks; mine += places) {
                     std::optional<std::size_t> task;
                     while (!(task = in.get())) platform::pause();
                     did[*task].store(1);
                     ran.ran(*task);
                     if (*task + 1 < tasks) {
                       here.counts().made(of_worker);
                       out.put(*task + 1);
                     }
                     here.counts().ended(of_worker);
                   }
                 }});
  });
}

/// All places but one say that they have failed: all hear of the lowest.
void explore_wave_errors(int count) {
  platform::vm::at_each_node(count, [&] {
    wave_place here;
    std::optional<place_error> own;
    if (here.number() != 0) own = place_error{here.number(), "place " + std::to_string(here.number())};
    while (!here.look([](std::size_t) {}, own)) platform::pause();
    check(here.error() && here.error()->place == 1 && here.error()->what == "place 1", "the wrong error");
  });
}

}  // namespace

void add_waves(scenario_list& to) {
  to.push_back({"waves_in_flight", "messages between three places", [] { explore_in_flight(3, 5, 1); }});
  to.push_back({"waves_of_four", "messages between four places, one of which is far from the root",
                [] { explore_in_flight(4, 5, 1); }});
  to.push_back(
      {"waves_of_workers", "workers of two places count what they make and end", [] { explore_workers(2, 4); }});
  to.push_back({"waves_of_one_worker", "the same at a single place", [] { explore_workers(1, 3); }});
  to.push_back({"waves_errors", "three of four places have failed", [] { explore_wave_errors(4); }});
}

}  // namespace filch::explore
