// fat_chunk and thick_first: loops that are bad for ways of splitting, from the lazy-scheduling paper (Tzannes and
// others 2014).
//
// `fat_chunk` (Section 9.3): nearly all work is in the first iterations, no more of them than make one of the chunks
// that an auto partitioner begins with; where that chunk is not divided further, one worker does nearly everything.
// `thick_first` (Section 9.4, flat scenario): the first log2 n iterations have as much work each as all others
// together; where the owner offers half of what is left only between two iterations, it runs all of them itself.
#include <bit>
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
constexpr std::uint64_t fat_steps = 500'000;  // some hundred microseconds
constexpr std::uint64_t thin_steps = 4;       // some nanoseconds

class uneven_loop_instance final : public instance {
 public:
  uneven_loop_instance(std::uint64_t n, spin_iterations::amounts of) : iterations_(n, of) {}

  void prepare() override { iterations_.clear(); }

  void run(runner on) override {
    spin_step.look_up();
    with_peer(on, [&]<class Peer>() {
      Peer::for_each_index(iterations_.size(), [all = &iterations_](std::uint64_t i) { all->run(i); });
    });
  }

  std::string result() const override {
    return fmt::format("{} steps, {:016x}", iterations_.steps(), iterations_.sum());
  }
  bool verify() const override { return iterations_.are_complete(); }
  std::uint64_t tasks() const override { return iterations_.size(); }

 private:
  spin_iterations iterations_;
};

// "n/f": n iterations, f of them fat.
std::unique_ptr<instance> make_fat_chunk(std::string_view size) {
  const size_context context{"fat_chunk", size, "65536/256"};
  const std::size_t slash = size.find('/');
  const std::int64_t n = parse_whole(context, size.substr(0, slash), 1, most_iterations);
  if (slash == std::string_view::npos) reject_size(context, "does not say how many iterations are fat");
  const std::int64_t fat = parse_whole(context, size.substr(slash + 1), 1, n);
  const spin_iterations::amounts of{
      .first = static_cast<std::uint64_t>(fat), .first_steps = fat_steps, .other_steps = thin_steps};
  return std::make_unique<uneven_loop_instance>(static_cast<std::uint64_t>(n), of);
}

std::unique_ptr<instance> make_thick_first(std::string_view size) {
  const size_context context{"thick_first", size, "1048576"};
  const auto n = static_cast<std::uint64_t>(parse_whole(context, size, 2, most_iterations));
  const auto log2_n = static_cast<std::uint64_t>(std::bit_width(n) - 1);
  const spin_iterations::amounts of{.first = log2_n, .first_steps = n * thin_steps, .other_steps = thin_steps};
  return std::make_unique<uneven_loop_instance>(n, of);
}

}  // namespace

workload fat_chunk_workload() {
  return {"fat_chunk",    "a loop of n iterations, the first f of which have nearly all of the work (size n/f)",
          "65536/256",    {"65536/256", "65536/1024", "1024/8"},
          make_fat_chunk, "4096/16"};
}

workload thick_first_workload() {
  return {"thick_first",    "a loop of n iterations, the first log2 n of which have as much work as all others each",
          "1048576",        {"65536", "1048576", "4194304"},
          make_thick_first, "16384"};
}

}  // namespace filch::bench
