// Uses a little of everything, so that headers, library and link flags are all needed. Exit status 0 if it all worked.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include <filch/filch.hpp>

namespace {

long fib(long n) {
  if (n < 2) return n;
  const auto [a, b] = filch::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

long fib_of_group(long n) {
  long a = 0;
  long b = 0;
  filch::task_group group;
  group.run([&] { a = fib(n - 1); });
  group.run([&] { b = fib(n - 2); });
  group.wait();
  return a + b;
}

/// Counts down, and can be split.
struct countdown {
  int left;
  std::atomic<int>& steps;
  bool step(std::size_t /*budget*/) {
    ++steps;
    return --left > 0;
  }
  std::optional<countdown> split() {
    if (left < 2) return std::nullopt;
    const int half = left / 2;
    left -= half;
    return countdown{half, steps};
  }
};

/// What headers call of the library in loops, bags, tasks that split themselves, sorts, and with hints.
bool everything_else_works() {
  std::vector<int> numbers(1000);
  const std::vector<double> sums(numbers.size() + 1);
  filch::parallel_for(
      std::size_t{0}, numbers.size(), [&](std::size_t i) { numbers[i] = static_cast<int>(999 - i); },
      filch::weights(sums));
  filch::parallel_sort(numbers.begin(), numbers.end());
  const int sum =
      filch::parallel_reduce(0, 1000, 0, [&](int i) { return numbers[static_cast<std::size_t>(i)]; }, std::plus<>{});
  std::atomic<int> steps{0};
  const std::vector<int> roots{1, 2, 3};
  filch::for_each_dynamic(roots.begin(), roots.end(), [&](int left, filch::feeder<int>& more) {
    ++steps;
    if (left > 0) more.push(left - 1);
  });
  countdown down{100, steps};
  filch::adaptive(down);
  filch::task_group group(2);
  group.run([&] { ++steps; }, 1);
  group.run([&] { ++steps; }, 1);
  group.wait();
  filch::fork_join(filch::work{2, 1}, [&] { ++steps; }, [&] { ++steps; });
  return std::is_sorted(numbers.begin(), numbers.end()) && sum == 999 * 500 && steps == 9 + 100 + 4;
}

}  // namespace

int main() {
  filch::scheduler pool({.workers = 2});
  const long forked = pool.run([] { return fib(20); });
  const long grouped = pool.run([] { return fib_of_group(20); });
  const int workers = filch::discover_topology().usable_workers;
  std::printf("fib(20) = %ld and %ld; %d usable workers\n", forked, grouped, workers);
  filch::scheduler dividing({.workers = 2, .policy = "adws"});
  bool others = pool.run(everything_else_works) && dividing.run(everything_else_works);
  filch::scheduler tracing({.workers = 2, .policy = "constrained"});
  filch::repeated step(1);
  for (int i = 0; i < 3; ++i) others = tracing.run([&] { return step.run(everything_else_works); }) && others;
  return forked == 6765 && grouped == 6765 && workers >= 1 && others ? 0 : 1;
}
