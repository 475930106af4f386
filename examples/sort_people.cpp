// Sorts records by one key and then by another: a stable sort keeps, within each city, the order by name that the first
// sort made. The first one may be the faster, unstable sort; also its result is the same in every run.
#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

#include <filch/filch.hpp>

namespace {

struct person {
  std::string name;
  std::string city;
};

std::vector<person> make_people(std::size_t n) {
  const std::array<const char*, 4> cities{"Uppsala", "Delft", "Kyoto", "Nancy"};
  std::vector<person> people(n);
  filch::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
    people[i] = {"no. " + std::to_string(i * 7919 % n), cities[i % cities.size()]};
  });
  return people;
}

}  // namespace

int main() {
  std::vector<person> people = make_people(20'000);
  filch::parallel_sort(people.begin(), people.end(), [](const person& a, const person& b) { return a.name < b.name; });
  filch::parallel_stable_sort(people.begin(), people.end(),
                              [](const person& a, const person& b) { return a.city < b.city; });

  std::cout << "first: " << people.front().name << " of " << people.front().city << ", last: " << people.back().name
            << " of " << people.back().city << '\n';
  const bool sorted = std::ranges::is_sorted(
      people, [](const person& a, const person& b) { return std::tie(a.city, a.name) < std::tie(b.city, b.name); });
  return sorted ? 0 : 1;
}
