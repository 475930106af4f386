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

/// Expects a scheduler of so many workers, in which `body` runs, to tell of the begin and of the end of these threads.
template <class Body>
void expect_threads(int workers, const Body& body, const std::vector<int>& expected) {
  index_list begun;
  index_list ended;
  {
    scheduler pool({.workers = workers,
                    .on_start = [&](int index) { begun.add(index); },
                    .on_stop = [&](int index) { ended.add(index); }});
    pool.run(body);
  }
  EXPECT_EQ(begun.sorted(), expected);
  EXPECT_EQ(ended.sorted(), expected);
}

TEST(threads, tell_each_worker_index_but_the_callers_once) {
  expect_threads(4, [] { fork_join([] {}, [] {}); }, {1, 2, 3});
}

TEST(threads, in_the_place_of_blocked_workers_have_no_index) {
  expect_threads(2, [] { const blocking here; }, {-1, 1});
}

}  // namespace
}  // namespace filch
