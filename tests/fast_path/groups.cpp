// What check_groups.py counts: tasks of one group, or of several that are filled and waited for in turn, on one worker.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>

#include <filch/filch.hpp>

namespace {

constexpr int tasks = 240;

long run_tasks(std::span<filch::task_group> groups) {
  long sum = 0;
  for (int i = 0; i < tasks;) {
    for (filch::task_group& group : groups) {
      group.run([&sum] { ++sum; });
      ++i;
    }
  }
  for (filch::task_group& group : groups) group.wait();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int rounds = std::atoi(argv[1]);
  const auto groups = static_cast<std::size_t>(std::atoi(argv[2]));
  filch::scheduler one({.workers = 1});
  std::printf("%ld\n", one.run([=] {
    long sum = 0;
    for (int i = 0; i < rounds; ++i) {
      std::array<filch::task_group, 3> all;
      sum += run_tasks(std::span(all).first(groups));
    }
    return sum;
  }));
}
