// nested_bar: Algorithm 5 of the lazy-scheduling paper (Tzannes and others 2014, Section 9.4, nested scenario). A
// function forks off a task that does next to nothing and calls itself, n levels deep; at the bottom there is a loop of
// n iterations with much work each. Breadth-first lazy splitting offers one of the n idle tasks after each iteration,
// and never the loop, so one worker runs all of it.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "spin_work.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr std::int64_t deepest = 4096;
constexpr std::uint64_t steps_per_level = 256;  // of each iteration, times n

std::uint64_t foo(std::uint64_t depth) { return depth; }

// The sum of what all calls of foo return: that every task ran.
template <class Peer>
std::uint64_t bar(spin_iterations& iterations, std::uint64_t depth) {
  if (depth == iterations.size()) {
    Peer::for_each_index(iterations.size(), [all = &iterations](std::uint64_t i) { all->run(i); });
    return 0;
  }
  auto [below, here] =
      Peer::fork_join([&] { return bar<Peer>(iterations, depth + 1); }, [depth] { return foo(depth + 1); });
  return below + here;
}

class nested_bar_instance final : public instance {
 public:
  explicit nested_bar_instance(std::uint64_t n)
      : iterations_(n, {.first = n, .first_steps = n * steps_per_level, .other_steps = 0}) {}

  void prepare() override {
    iterations_.clear();
    sum_.reset();
  }

  void run(runner on) override {
    spin_step.look_up();
    sum_ = with_peer(on, [&]<class Peer>() { return bar<Peer>(iterations_, 0); });
  }

  std::string result() const override { return fmt::format("{:016x}, {}", iterations_.sum(), sum_.value_or(0)); }

  bool verify() const override {
    const std::uint64_t n = iterations_.size();
    return sum_ == n * (n + 1) / 2 && iterations_.are_complete();
  }

  // Forks and iterations.
  std::uint64_t tasks() const override { return 2 * iterations_.size(); }

 private:
  spin_iterations iterations_;
  std::optional<std::uint64_t> sum_;
};

std::unique_ptr<instance> make_nested_bar(std::string_view size) {
  const size_context context{"nested_bar", size, "1024"};
  return std::make_unique<nested_bar_instance>(static_cast<std::uint64_t>(parse_whole(context, size, 1, deepest)));
}

}  // namespace

workload nested_bar_workload() {
  return {"nested_bar",    "n nested forks of nothing, then a loop of n iterations with all of the work",
          "1024",          {"256", "1024", "2048"},
          make_nested_bar, "128"};
}

}  // namespace filch::bench
