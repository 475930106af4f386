// flat_loop: one loop of n iterations with little work each and a grain of g, for counting what a way of splitting does
// to it (Table II of the lazy-scheduling paper, Tzannes and others 2014).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "spin_work.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr std::int64_t most_iterations = 100'000'000;
constexpr std::uint64_t steps = 32;  // some hundred cycles

class flat_loop_instance final : public instance {
 public:
  flat_loop_instance(std::uint64_t n, std::uint64_t grain)
      : iterations_(n, {.first = 0, .first_steps = 0, .other_steps = steps}), grain_(grain) {}

  void prepare() override { iterations_.clear(); }

  void run(runner on) override {
    spin_step.look_up();
    with_peer(on, [&]<class Peer>() {
      Peer::for_each_index(iterations_.size(), [all = &iterations_](std::uint64_t i) { all->run(i); }, grain_);
    });
  }

  std::string result() const override { return fmt::format("{:016x}", iterations_.sum()); }
  bool verify() const override { return iterations_.are_complete(); }
  std::uint64_t tasks() const override { return iterations_.size(); }

 private:
  spin_iterations iterations_;
  std::uint64_t grain_;
};

// "n/g", or "n" where the grain is the runner's own choice.
std::unique_ptr<instance> make_flat_loop(std::string_view size) {
  const size_context context{"flat_loop", size, "1048576/16"};
  const std::size_t slash = size.find('/');
  const std::int64_t n = parse_whole(context, size.substr(0, slash), 1, most_iterations);
  const std::int64_t grain =
      slash == std::string_view::npos ? 0 : parse_whole(context, size.substr(slash + 1), 1, most_iterations);
  return std::make_unique<flat_loop_instance>(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(grain));
}

}  // namespace

workload flat_loop_workload() {
  return {"flat_loop",    "one loop of n iterations of a hundred cycles; n/g: with a grain of g",
          "1048576",      {"1048576", "1048576/1", "1048576/1024"},
          make_flat_loop, "4096/16"};
}

}  // namespace filch::bench
