// A plug-in that computes with filch. The program that loads it does not know.
#include <filch/filch.hpp>

namespace {

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = filch::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] long plugin_fib(int n) {
  long of_own_team = 0;
  {
    filch::scheduler own({.workers = 2});
    of_own_team = own.run([=] { return fib(n); });
  }
  return fib(n) == of_own_team ? of_own_team : -1;
}
