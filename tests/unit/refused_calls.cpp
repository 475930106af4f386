// Calls with arguments that they do not take. Each must be refused in a few lines (refused_test.py).
#include <functional>
#include <list>
#include <vector>

#include <filch/filch.hpp>

void refuse(std::vector<int>& numbers, std::vector<bool>& bits, std::list<int>& list) {
  int compared = 0;
  const auto counting = [compared](int a, int b) mutable { return ++compared != 0 && a < b; };
  const auto next = [&] { return numbers.data(); };
  filch::parallel_sort(numbers.begin(), numbers.end(), counting);        // refused
  filch::parallel_stable_sort(numbers, counting);                        // refused
  filch::parallel_sort(bits.begin(), bits.end());                        // refused
  filch::parallel_stable_sort(bits);                                     // refused
  filch::parallel_sort(list.begin(), list.end(), std::greater<>());      // refused
  filch::pipeline(4, next, filch::serial([](int* at) { return *at; }));  // refused
}
