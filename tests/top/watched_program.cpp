// A program to be watched: says "ready", and then works, or sleeps, until its standard input ends.
//
//   filch_watched work|sleep
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include <filch/filch.hpp>

namespace {

/// The second branch is stolen, and takes 20 ms from then on.
void work_for_a_while() {
  std::atomic<bool> is_over = false;
  filch::fork_join(
      [&] {
        while (!is_over) {
          filch::fork_join([] {}, [] {});  // which also offers the other branch
          std::this_thread::yield();
        }
      },
      [&] {
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        while (std::chrono::steady_clock::now() < until) {
        }
        is_over = true;
      });
}

}  // namespace

int main(int argc, char** argv) {
  const bool works = argc > 1 && std::string_view(argv[1]) == "work";
  filch::scheduler pool({.workers = 2, .policy = "lace"});
  pool.run([] {});
  std::atomic<bool> is_over = false;
  std::thread input([&] {
    while (std::getchar() != EOF) {
    }
    is_over = true;
  });
  std::puts("ready");
  std::fflush(stdout);
  if (works) {
    pool.run([&] {
      while (!is_over) work_for_a_while();
    });
  }
  input.join();
}
