// Fibonacci numbers, the smallest fork-join program: fork_join runs two functions, possibly at the same time, and
// returns both results. No scheduler is made; the process-wide one starts by itself.
#include <iostream>

#include <filch/filch.hpp>

namespace {

long fib(long n) {
  if (n < 2) return n;
  const auto [a, b] = filch::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

int main() {
  constexpr long n = 30;
  const long result = fib(n);
  std::cout << "fib(" << n << ") = " << result << '\n';
  return result == 832040 ? 0 : 1;
}
