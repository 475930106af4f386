// What check_fast_path.py counts: the calls of one function, with inlining blocked, on one worker.
#include <cstdio>
#include <cstdlib>

#include <filch/filch.hpp>

[[gnu::noinline, gnu::noclone]] long fib_counted(int n) {
  if (n < 2) return n;
  const auto [a, b] = filch::fork_join([=] { return fib_counted(n - 1); }, [=] { return fib_counted(n - 2); });
  return a + b;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int n = std::atoi(argv[1]);
  filch::scheduler one({.workers = 1, .policy = argv[2]});
  std::printf("%ld\n", one.run([=] { return fib_counted(n); }));
}
