// Of nested loops, which one a worker gives a part of: the oldest or the innermost, as combinations() says.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

constexpr double iteration_ns = 20'000;

/// Iterations of the inner loop begin at that number, those of the outer one are below.
constexpr int inner = 100;

bool is_inner(int i) { return i >= inner; }

/// What the only thief runs, in its order. A loop is inside of the first outer iteration.
std::vector<int> stolen_under(const std::string& policy) {
  std::vector<int> stolen;
  run_on(2, policy, [&](scheduler&) {
    const auto run = [&](int i) {
      if (this_worker() == 1) stolen.push_back(i);
      platform::charge(iteration_ns);
    };
    parallel_for(0, 8, [&](int i) {
      run(i);
      if (i == 0) parallel_for(inner, inner + 64, run);
    });
  });
  return stolen;
}

TEST(giving_order, the_oldest_loop_is_used_up_first) {
  for (const char* const policy : {"standard", "lazy_breadth"}) {
    const std::vector<int> stolen = stolen_under(policy);
    const auto first_inner = std::ranges::find_if(stolen, is_inner);
    EXPECT_NE(first_inner, stolen.end()) << policy;
    EXPECT_TRUE(std::all_of(first_inner, stolen.end(), is_inner)) << policy << testing::PrintToString(stolen);
  }
}

TEST(giving_order, the_innermost_loop_comes_before_what_is_left_of_the_oldest) {
  const std::vector<int> stolen = stolen_under("lazy_depth");
  const auto first_inner = std::ranges::find_if(stolen, is_inner);
  EXPECT_NE(first_inner, stolen.end());
  EXPECT_FALSE(std::all_of(first_inner, stolen.end(), is_inner)) << testing::PrintToString(stolen);
}

}  // namespace
}  // namespace filch::vm
