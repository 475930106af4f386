// loops: a loop of 10,000 iterations inside of a loop of 1000, with bodies of about 2 ns or 20 ns.
//
// What is measured is what a loop costs for each iteration, and whether bodies remain what the compiler makes of them
// in a plain loop: those of neighbouring iterations are independent, so it may run several at once in vector registers.
// The time of a body is that of one in a plain loop, on a processor of 2022; on the virtual machine it is exact.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "random.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr int steps_of_2ns = 7;
constexpr int steps_of_20ns = 33;
constexpr std::int64_t most_iterations = 100'000;

struct problem {
  std::uint64_t outer;
  std::uint64_t inner;
  int body_ns;  // 2 or 20
};

// Bits that need all steps: none can be left out or taken together.
template <int Steps>
std::uint32_t scrambled(std::uint32_t bits) {
  for (int i = 0; i < Steps; ++i) {
    bits ^= bits >> 15;
    bits = bits * 0x2c1b3c6d + 0x297a2d39;
  }
  return bits;
}

template <class Peer, int Steps, int BodyNs>
void fill(const problem& p, std::uint32_t* numbers) {
  Peer::for_each_index(p.outer, [&p, numbers](std::uint64_t i) {
    std::uint32_t* const row = numbers + i * p.inner;
    Peer::for_each_index(p.inner, [row, i](std::uint64_t j) {
      vm::charge(BodyNs);
      row[j] = scrambled<Steps>(static_cast<std::uint32_t>(i << 17 ^ j));
    });
  });
}

template <class Peer>
void fill(const problem& p, std::uint32_t* numbers) {
  if (p.body_ns == 2) {
    fill<Peer, steps_of_2ns, 2>(p, numbers);
  } else {
    fill<Peer, steps_of_20ns, 20>(p, numbers);
  }
}

// Differs if any number differs, or if two have changed places.
std::uint64_t checksum(const std::vector<std::uint32_t>& numbers) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) sum += (2 * i + 1) * numbers[i];
  return mix(sum);
}

class loops_instance final : public instance {
 public:
  explicit loops_instance(problem p) : problem_(p) {}

  void prepare() override { numbers_.assign(problem_.outer * problem_.inner, 0); }

  void run(runner on) override {
    with_peer(on, [&]<class Peer>() { fill<Peer>(problem_, numbers_.data()); });
  }

  std::string result() const override { return fmt::format("{:016x}", checksum(numbers_)); }

  bool verify() const override {
    if (!expected_) {
      std::vector<std::uint32_t> numbers(numbers_.size());
      fill<serial_peer>(problem_, numbers.data());
      expected_ = checksum(numbers);
    }
    return checksum(numbers_) == *expected_;
  }

  std::uint64_t tasks() const override { return problem_.outer * (1 + problem_.inner); }

 private:
  problem problem_;
  std::vector<std::uint32_t> numbers_;
  mutable std::optional<std::uint64_t> expected_;  // worked out when first asked for
};

// "2ns", or "2ns/10x100" for other numbers of iterations.
std::unique_ptr<instance> make_loops(std::string_view size) {
  const size_context context{"loops", size, "2ns"};
  const std::size_t slash = size.find('/');
  const std::string_view body = size.substr(0, slash);
  if (body != "2ns" && body != "20ns") reject_size(context, "does not begin with 2ns or 20ns");
  problem p{.outer = 1000, .inner = 10'000, .body_ns = body == "2ns" ? 2 : 20};
  if (slash != std::string_view::npos) {
    const std::string_view counts = size.substr(slash + 1);
    const std::size_t cross = counts.find('x');
    if (cross == std::string_view::npos) reject_size(context, "has no 'x' between its two numbers of iterations");
    p.outer = static_cast<std::uint64_t>(parse_whole(context, counts.substr(0, cross), 1, most_iterations));
    p.inner = static_cast<std::uint64_t>(parse_whole(context, counts.substr(cross + 1), 1, most_iterations));
  }
  return std::make_unique<loops_instance>(p);
}

}  // namespace

workload loops_workload() {
  return {"loops",    "a loop of 10,000 iterations of 2 ns or 20 ns in a loop of 1000; 2ns/AxB: B in A",
          "2ns",      {"2ns", "20ns", "2ns/10x1000"},
          make_loops, "20ns/20x500"};
}

}  // namespace filch::bench
