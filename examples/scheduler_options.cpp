// Makes a scheduler of its own choice: how many workers, which policy, what to do while waiting. Shows the choices that
// exist, what the scheduler counted, and that a wrong choice is explained.
#include <iostream>
#include <stdexcept>
#include <string>

#include <filch/filch.hpp>

namespace {

long sum_of_squares(long first, long last) {
  if (last - first == 1) return first * first;
  const long middle = first + (last - first) / 2;
  const auto [low, high] =
      filch::fork_join([=] { return sum_of_squares(first, middle); }, [=] { return sum_of_squares(middle, last); });
  return low + high;
}

}  // namespace

int main() {
  for (const filch::combination& choice : filch::combinations()) {
    filch::scheduler pool({.workers = 2, .policy = std::string(choice.policy)});
    const long sum = pool.run([] { return sum_of_squares(0, 100'000); });
    std::cout << choice.policy << " (" << choice.summary << "), joins by " << pool.join() << ": " << sum << ", "
              << pool.stats().steals << " steals\n";
    if (sum != 333328333350000) return 1;
  }

  try {
    const filch::scheduler pool({.policy = "greedy"});
  } catch (const std::invalid_argument& error) {
    std::cout << error.what() << '\n';
    return 0;
  }
  return 1;
}
