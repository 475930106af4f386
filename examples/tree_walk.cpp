// Walks a tree whose nodes have any number of children: one task per child in a task_group, which waits for all of
// them. Here the tree is made up on the way: node n has the children of the numbers n/2, n/3 and n/5 that are not zero.
#include <array>
#include <cstddef>
#include <iostream>
#include <numeric>

#include <filch/filch.hpp>

namespace {

constexpr std::array<long, 3> divisors{2, 3, 5};

// Every child has its own place for its result, so nothing needs a lock.
long count_nodes(long n) {
  std::array<long, divisors.size()> below{};
  filch::task_group children;
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    const long child = n / divisors[i];
    if (child > 0) children.run([child, &count = below[i]] { count = count_nodes(child); });
  }
  children.wait();
  return 1 + std::accumulate(below.begin(), below.end(), 0L);
}

long count_nodes_serially(long n) {
  long nodes = 1;
  for (const long divisor : divisors) {
    if (n / divisor > 0) nodes += count_nodes_serially(n / divisor);
  }
  return nodes;
}

}  // namespace

int main() {
  constexpr long root = 1'000'000;
  const long nodes = filch::scheduler::default_scheduler().run([] { return count_nodes(root); });
  std::cout << nodes << " nodes below and including " << root << '\n';
  return nodes == count_nodes_serially(root) ? 0 : 1;
}
