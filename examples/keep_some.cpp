// Copies the elements that are wanted, in their order, by all workers: an exclusive scan over "is it wanted?" says how
// many wanted ones are before each element, which is its place in the result. parallel_scan does both in one go, and
// without the memory for the places.
#include <cstddef>
#include <functional>
#include <iostream>
#include <vector>

#include <filch/filch.hpp>

namespace {

bool wanted(int n) { return n % 7 == 0 || n % 10 == 7; }

std::vector<int> keep_by_places(const std::vector<int>& numbers) {
  std::vector<std::size_t> places(numbers.size());
  filch::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) { places[i] = wanted(numbers[i]) ? 1 : 0; });
  // In place: afterwards places[i] is the number of wanted elements before element i.
  filch::parallel_exclusive_scan(places.begin(), places.end(), places.begin(), std::size_t{0});

  std::vector<int> kept(numbers.empty() ? 0 : places.back() + (wanted(numbers.back()) ? 1 : 0));
  filch::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) {
    if (wanted(numbers[i])) kept[places[i]] = numbers[i];
  });
  return kept;
}

std::vector<int> keep_in_one_go(const std::vector<int>& numbers) {
  std::vector<int> kept(numbers.size());
  const auto copy = [&](const filch::blocked_range<std::size_t>& part, std::size_t before, bool is_final) {
    for (std::size_t i = part.begin(); i != part.end(); ++i) {
      if (!wanted(numbers[i])) continue;
      if (is_final) kept[before] = numbers[i];
      ++before;
    }
    return before;
  };
  kept.resize(
      filch::parallel_scan(filch::blocked_range<std::size_t>(0, numbers.size()), std::size_t{0}, copy, std::plus<>()));
  return kept;
}

}  // namespace

int main() {
  std::vector<int> numbers(100'000);
  filch::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) { numbers[i] = static_cast<int>(i); });
  const std::vector<int> kept = keep_by_places(numbers);
  std::vector<int> expected;
  for (const int n : numbers) {
    if (wanted(n)) expected.push_back(n);
  }
  std::cout << kept.size() << " of " << numbers.size() << " kept\n";
  return kept == expected && keep_in_one_go(numbers) == expected ? 0 : 1;
}
