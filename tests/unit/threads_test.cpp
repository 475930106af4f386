// Which threads a scheduler starts, as on_start and on_stop tell.
#include <algorithm>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

/// Indices of threads, any thread's.
class index_list {
 public:
  void add(int index) {
    const std::lock_guard lock(mutex_);
    all_.push_back(index);
  }
  [[nodiscard]] std::vector<int> sorted() const {
    const std::lock_guard lock(mutex_);
    std::vector<int> found = all_;
    std::ranges::sort(found);
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int> all_;
};

TEST(threads, tell_each_worker_index_but_the_callers_once) {
  index_list begun;
  index_list ended;
  {
    scheduler pool({.workers = 4,
                    .on_start = [&](int index) { begun.add(index); },
                    .on_stop = [&](int index) { ended.add(index); }});
    pool.run([] { fork_join([] {}, [] {}); });
  }
  const std::vector<int> expected = {1, 2, 3};
  EXPECT_EQ(begun.sorted(), expected);
  EXPECT_EQ(ended.sorted(), expected);
}

TEST(threads, in_the_place_of_blocked_workers_have_no_index) {
  index_list begun;
  index_list ended;
  {
    scheduler pool({.workers = 2,
                    .on_start = [&](int index) { begun.add(index); },
                    .on_stop = [&](int index) { ended.add(index); }});
    pool.run([] { const blocking here; });
  }
  const std::vector<int> expected = {-1, 1};
  EXPECT_EQ(begun.sorted(), expected);
  EXPECT_EQ(ended.sorted(), expected);
}

}  // namespace
}  // namespace filch
