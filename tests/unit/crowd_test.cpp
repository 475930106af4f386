// More workers than processors: those that are held back come where the others wait for them.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

/// All of `size` meet there, each in a task of its own: whoever comes waits for the others.
class meeting {
 public:
  explicit meeting(int size) : missing_(size) {}
  void come_by_sleep() {
    if (--missing_ == 0) missing_.notify_all();
    for (int missing = missing_; missing > 0; missing = missing_) missing_.wait(missing);
  }
  void come_by_looking() {
    --missing_;
    while (missing_ > 0) std::this_thread::yield();
  }
  [[nodiscard]] bool is_over() const { return missing_ == 0; }

 private:
  std::atomic<int> missing_;
};

using way_to_wait = void (meeting::*)();

class crowd : public testing::TestWithParam<way_to_wait> {};

TEST_P(crowd, all_that_is_submitted_is_begun) {
  scheduler pool({.workers = discover_topology().usable_workers + 14, .policy = "standard"});
  for (int round = 0; round < 3; ++round) {
    meeting everybody(pool.workers());
    const auto come = [&] { (everybody.*GetParam())(); };
    std::vector<future<>> others;
    // The last one is this thread, which is no worker.
    for (int i = 1; i < pool.workers(); ++i) others.push_back(pool.submit(come));
    come();
    for (auto& each : others) each.get();
    EXPECT_TRUE(everybody.is_over());
  }
}

INSTANTIATE_TEST_SUITE_P(ways, crowd, testing::Values(&meeting::come_by_sleep, &meeting::come_by_looking),
                         [](const auto& each) { return each.index == 0 ? "asleep" : "awake"; });

}  // namespace
}  // namespace filch
