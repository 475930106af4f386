// A bag of work that grows while it is processed. Which numbers can be made from 1 by the steps "2 n + 1" and "9 n"?
// Nobody knows beforehand how many there are: every number that is found brings up to two others.
#include <array>
#include <atomic>
#include <cstddef>
#include <iostream>
#include <vector>

#include <filch/filch.hpp>

namespace {

constexpr std::size_t bound = 1'000'000;

constexpr std::array<std::size_t, 2> made_from(std::size_t n) { return {2 * n + 1, 9 * n}; }

// Whoever finds a number first brings it; the others find it marked.
std::size_t count() {
  std::vector<std::atomic<bool>> found(bound);
  const std::array<std::size_t, 1> first{1};
  found[1] = true;
  std::atomic<std::size_t> numbers{0};
  filch::for_each_dynamic(first.begin(), first.end(), [&](std::size_t& n, filch::feeder<std::size_t>& more) {
    numbers.fetch_add(1, std::memory_order_relaxed);
    for (const std::size_t next : made_from(n)) {
      if (next < bound && !found[next].exchange(true, std::memory_order_relaxed)) more.push(next);
    }
  });
  return numbers;
}

std::size_t count_serially() {
  std::vector<bool> found(bound);
  std::vector<std::size_t> waiting{1};
  found[1] = true;
  std::size_t numbers = 0;
  while (!waiting.empty()) {
    const std::size_t n = waiting.back();
    waiting.pop_back();
    ++numbers;
    for (const std::size_t next : made_from(n)) {
      if (next >= bound || found[next]) continue;
      found[next] = true;
      waiting.push_back(next);
    }
  }
  return numbers;
}

}  // namespace

int main() {
  const std::size_t numbers = count();
  std::cout << numbers << " numbers below " << bound << '\n';
  return numbers == count_serially() ? 0 : 1;
}
