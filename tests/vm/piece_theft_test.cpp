// What a second worker gets of a long loop that puts a piece on offer for each chunk, or halves. All times are virtual.
#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm/simulation.hpp>

namespace filch::vm {
namespace {

struct way {
  loop_kind kind;
  const char* name;
  friend std::ostream& operator<<(std::ostream& to, const way& w) { return to << w.name; }
};

class piece_theft : public testing::TestWithParam<way> {};

constexpr std::size_t chunks = 50'000;
constexpr double chunk_s = 1e-6;

// The bars are those of two workers that share a loop without cost, less a tenth.
TEST_P(piece_theft, the_thief_of_a_long_loop_gets_half_of_it) {
  std::array<std::size_t, 2> ran{};
  double seconds = 0;
  simulation machine(load_machine("generic", MACHINES_FOLDER), 1, 2);
  machine.run([&] {
    options chosen;
    chosen.workers = 2;
    scheduler pool(chosen);
    pool.run([&] {
      const double begin_s = now_s();
      parallel_for(
          std::size_t{0}, chunks,
          [&](std::size_t) {
            ++ran[static_cast<std::size_t>(this_worker())];
            platform::charge(chunk_s * 1e9);
          },
          splitting{GetParam().kind, 1});
      seconds = now_s() - begin_s;
    });
  });
  ASSERT_EQ(ran[0] + ran[1], chunks);
  const double share = static_cast<double>(std::min(ran[0], ran[1])) / chunks;
  const double efficiency = chunks * chunk_s / (2 * seconds);
  std::cout << GetParam() << ": share " << share << ", efficiency " << efficiency << std::endl;
  EXPECT_GE(share, 0.4);
}

INSTANTIATE_TEST_SUITE_P(ways, piece_theft,
                         testing::Values(way{loop_kind::help_first, "help_first"}, way{loop_kind::simple, "simple"},
                                         way{loop_kind::automatic, "automatic"}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace filch::vm
