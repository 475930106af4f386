// Uses a little of everything, so that headers, library and link flags are all needed. Exit status 0 if it all worked.
#include <cstdio>

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

}  // namespace

int main() {
  filch::scheduler pool({.workers = 2});
  const long forked = pool.run([] { return fib(20); });
  const long grouped = pool.run([] { return fib_of_group(20); });
  const int workers = filch::discover_topology().usable_workers;
  std::printf("fib(20) = %ld and %ld; %d usable workers\n", forked, grouped, workers);
  return forked == 6765 && grouped == 6765 && workers >= 1 ? 0 : 1;
}
