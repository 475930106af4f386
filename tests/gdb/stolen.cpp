// Stops in tasks that were stolen, for gdb: inside_stolen_task() is called once for each kind of task.
#include <atomic>
#include <cstdio>

#include <filch/filch.hpp>

namespace {

std::atomic<int> sum = 0;

}  // namespace

// Not inlined: breakpoints.
[[gnu::noinline]] void inside_stolen_task(int depth) { sum += depth; }

namespace {

/// Offers what was forked before, until `is_begun`.
void wait_for_theft(const std::atomic<bool>& is_begun) {
  while (!is_begun) filch::fork_join([] {}, [] {});
}

/// The second branch is stolen, and while it runs the first one is over.
void inner_branches(int depth) {
  std::atomic<bool> is_begun = false;
  filch::fork_join([&] { wait_for_theft(is_begun); },
                   [&] {
                     is_begun = true;
                     inside_stolen_task(depth);
                   });
}

/// The second branch is stolen, and the first one runs until it has ended.
void outer_branches(int depth) {
  std::atomic<bool> is_over = false;
  filch::fork_join([&] { wait_for_theft(is_over); },
                   [&] {
                     inner_branches(depth + 1);
                     is_over = true;
                   });
}

void with_group(int depth) {
  std::atomic<bool> is_begun = false;
  filch::task_group group;
  group.run([&] {
    is_begun = true;
    inside_stolen_task(depth);
  });
  wait_for_theft(is_begun);
  group.wait();
}

/// One of the two iterations waits for the other, which begins on another worker only.
void with_loop(int depth) {
  std::atomic<int> begun = 0;
  filch::parallel_for(
      0, 2,
      [&](int i) {
        ++begun;
        while (begun < 2) {
        }
        if (i == 1) inside_stolen_task(depth);
      },
      filch::loop::simple{});
}

}  // namespace

int main() {
  filch::scheduler pool({.workers = 3});
  pool.run([] {
    outer_branches(10);
    with_group(20);
    with_loop(30);
  });
  std::printf("%d\n", sum.load());
}
