// Adaptive tasks: split when somebody asks, or unasked; run by thieves, taken back by their owners, or both at once.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scenario.hpp"

namespace filch::explore {
namespace {

/// Numbers of an interval, one for each step. What split them off is seen by who runs them.
struct interval {
  account* ran;
  std::vector<payload>* results;
  std::size_t first;
  std::size_t last;

  bool step(std::size_t /*budget*/) {
    if (first == last) return false;
    ran->ran(first);
    (*results)[first++].store(1);
    return first != last;
  }
  std::optional<interval> split() { return upper_half(*this); }
};

void explore_units(const options& chosen, adaptive_options how) {
  constexpr std::size_t n = 4;
  scheduler pool(chosen);
  account ran(2 * n);
  std::vector<payload> results(2 * n);
  pool.run([&] {
    // Twice, with the same records.
    for (std::size_t from = 0; from < 2 * n; from += n) {
      adaptive(interval{&ran, &results, from, from + n}, how);
      for (std::size_t i = from; i < from + n; ++i) check(results[i].load() == 1, "a result got lost");
    }
  });
  ran.check_all();
}

/// A chain: a task does an even unit, and the odd one after it in the next step; between the two it gives all that is
/// left away. So it waits for the thief of that, takes what the thief has given away in its turn, and so on.
void explore_chain(const options& chosen, adaptive_options how) {
  struct chain {
    account* ran;
    std::vector<payload>* results;
    std::size_t next;
    std::size_t last;
    bool beside = false;
    bool step(std::size_t /*budget*/) {
      const std::size_t i = 2 * (beside ? next - 1 : next++) + (beside ? 1 : 0);
      ran->ran(i);
      check(i == 0 || (*results)[i - 2 + i % 2].load() == 1, "a step does not see what was done before");
      (*results)[i].store(1);
      beside = !beside;
      return beside || next != last;
    }
    std::optional<chain> split() {
      if (!beside || next == last) return std::nullopt;
      return chain{ran, results, next, std::exchange(last, next)};
    }
  };
  constexpr std::size_t n = 4;
  scheduler pool(chosen);
  account ran(2 * n);
  std::vector<payload> results(2 * n);
  pool.run([&] {
    adaptive(chain{&ran, &results, 0, n}, how);
    for (const payload& result : results) check(result.load() == 1, "a result got lost");
  });
  ran.check_all();
}

/// Steps that fork: what lies on the stack of one who runs a part may be given to the caller, who waits.
void explore_forks(const options& chosen, adaptive_options how) {
  struct forking {
    account* ran;
    std::size_t first;
    std::size_t last;
    bool step(std::size_t /*budget*/) {
      const std::size_t i = 3 * first++;
      fork_join([&] { fork_join([&] { ran->ran(i); }, [&] { ran->ran(i + 1); }); }, [&] { ran->ran(i + 2); });
      return first != last;
    }
    std::optional<forking> split() { return upper_half(*this); }
  };
  scheduler pool(chosen);
  account ran(12);
  pool.run([&] { adaptive(forking{&ran, 0, 4}, how); });
  ran.check_all();
}

/// Splits that fork, and every other one of which refuses after that. Who is asked for the fork's tasks answers inside
/// of its answer.
void explore_refusals(const options& chosen, adaptive_options how) {
  struct refusing {
    account* ran;
    std::size_t first;
    std::size_t last;
    bool refuses = true;
    bool step(std::size_t /*budget*/) {
      ran->ran(first++);
      return first != last;
    }
    std::optional<refusing> split() {
      fork_join([] {}, [] {});
      if (std::exchange(refuses, !refuses)) return std::nullopt;
      return upper_half(*this);
    }
  };
  scheduler pool(chosen);
  account ran(4);
  pool.run([&] { adaptive(refusing{&ran, 0, 4}, how); });
  ran.check_all();
}

/// Whoever throws, and whoever has what is left then: no task outlives the call, none is running.
void explore_failure(const options& chosen, adaptive_options how) {
  struct failing {
    std::shared_ptr<int> alive;
    bool* running;
    std::size_t first;
    std::size_t last;
    bool step(std::size_t /*budget*/) {
      const std::size_t i = first++;
      if (i == 1) throw std::runtime_error("one");
      if (i == 2) {
        *running = true;
        fork_join([] {}, [] {});
        *running = false;
      }
      return first != last;
    }
    std::optional<failing> split() { return upper_half(*this); }
  };
  scheduler pool(chosen);
  const auto alive = std::make_shared<int>(0);
  bool caught = false;
  bool running = false;
  pool.run([&] {
    try {
      adaptive(failing{alive, &running, 0, 4}, how);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    check(caught, "an exception got lost");
    check(!running, "a step outlives its call");
    check(alive.use_count() == 1, "a task that was dropped is still there");
  });
}

/// The call is in a task that somebody waits for, beside another one.
void explore_beside(const options& chosen, adaptive_options how) {
  scheduler pool(chosen);
  account ran(6);
  std::vector<payload> results(6);
  pool.run([&] {
    fork_join([&] { adaptive(interval{&ran, &results, 0, 3}, how); },
              [&] { adaptive(interval{&ran, &results, 3, 6}, how); });
    for (const payload& result : results) check(result.load() == 1, "a result got lost");
  });
  ran.check_all();
}

}  // namespace

void add_adaptive(scenario_list& to) {
  struct way {
    std::string name;
    adaptive_options how;
  };
  for (const way& each :
       {way{"adaptive_", {.budget = 1}}, way{"counted_", {.budget = 1, .end = termination::counted}}}) {
    const auto add = [&](const std::string& name, const std::string& about, const options& chosen,
                         void (*explore)(const options&, adaptive_options)) {
      to.push_back({each.name + name, about, [=, how = each.how] { explore(chosen, how); }});
    };
    add("standard", "a task that is split when somebody asks", small(2, "lace", "transitive"), &explore_units);
    add("standard_of_three", "the same, and split again by who has half of it", small(3, "lace", "transitive"),
        &explore_units);
    add("unasked", "a task that is split whenever nothing of it is on offer", small(3, "chase_lev", "transitive"),
        &explore_units);
    add("lazy", "a task that is split by a policy that keeps something on offer",
        small(2, "lazy_breadth", "transitive"), &explore_units);
    add("receiver", "a task whose half is asked for", small(2, "receiver", "transitive"), &explore_units);
    add("sender", "a task whose half is dealt", small(2, "sender", "transitive"), &explore_units);
    add("chain", "a chain that two workers take from each other in turn", small(2, "chase_lev", "transitive"),
        &explore_chain);
    add("chain_of_three", "the same, asked for by three", small(3, "lace", "transitive"), &explore_chain);
    add("chain_dealt", "the same, dealt to who waits", small(2, "sender", "transitive"), &explore_chain);
    for (const std::string policy : {"lace", "receiver", "sender"}) {
      add(policy + "_forks", "a task whose steps fork", small(2, policy, "transitive"), &explore_forks);
      add(policy + "_forks_of_three", "the same with three workers", small(3, policy, "transitive"), &explore_forks);
      add(policy + "_refuses", "a task whose splits fork and refuse", small(3, policy, "transitive"),
          &explore_refusals);
    }
    add("exception", "a call that ends early", small(each.how.end == termination::join ? 2 : 3, "lace", "transitive"),
        &explore_failure);
    add("beside", "two calls side by side", small(3, "lace", "transitive"), &explore_beside);
  }
}

}  // namespace filch::explore
