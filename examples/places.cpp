// A computation on all the nodes of a cluster: tasks go to nodes whose workers are idle, and inside of a node fork_join
// is what it was. Prints the same without a launcher, on one node, and on hundreds:
//
//     places 45
//     mpirun -n 4 places 45
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <filch/filch.hpp>
#include <filch/places.hpp>

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = filch::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

std::atomic<long> sum{0};  // each place has its own

void spread(int n) {
  if (n < 28) {
    sum += fib(n);  // here, by this place's workers
    return;
  }
  filch::places::async_any([n] { spread(n - 1); });  // here, or where somebody is idle
  filch::places::async_any([n] { spread(n - 2); });
}

}  // namespace

int main(int argc, char** argv) {
  return filch::places::run(argc, argv, [](int count, char** arguments) {
    const int n = count > 1 ? std::atoi(arguments[1]) : 40;
    filch::places::finish_spmd([n] {
      if (filch::places::here() == 0) spread(n);
    });
    const long all = filch::places::all_reduce(sum.load(), std::plus<>());
    if (filch::places::here() == 0) std::printf("fib(%d) = %ld\n", n, all);
  });
}
