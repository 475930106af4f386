// fork() while another thread uses filch for the first time in the process: parent and child can both go on with it.
#include <atomic>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <filch/filch.hpp>

#include "expect.hpp"

namespace {

using filch::tests::expect;

void use() {
  filch::parallel_for(0, 100, [](int /*i*/) {});
}

void expect_ends_well(pid_t child) {
  int status = 1;
  expect(child > 0 && waitpid(child, &status, 0) == child, "fork and waitpid");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child has ended well");
}

/// In a process in which nothing of filch has been used.
void fork_during_first_use(int delay) {
  std::thread first(use);
  for (std::atomic<int> i = 0; i < delay; ++i) {
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    use();
    _exit(0);
  }
  expect_ends_well(child);
  first.join();
}

}  // namespace

int main() {
  constexpr int times = 150;
  for (int i = 0; i < times; ++i) {
    const pid_t fresh = fork();
    if (fresh == 0) {
      fork_during_first_use(i * 997 % 60'000);
      _exit(0);
    }
    expect_ends_well(fresh);
  }
  return 0;
}
