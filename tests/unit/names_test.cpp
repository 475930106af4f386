// A program's functions may be called as those of filch are: none of these is taken for one of its own, which would not compile.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace program {
namespace {

struct record {
  std::size_t key;
};
using place = std::vector<record>::iterator;

bool operator<(const record& a, const record& b) { return a.key < b.key; }
record operator+(const record& a, const record& b) { return {a.key + b.key}; }

struct job {
  int operator()() const { return 1; }
};

template <class Less>
void insertion_sort(place, place, const Less&) = delete;
template <class Less>
void insertion_sort(record*, record*, const Less&) = delete;
template <class Wanted>
place partition_alone(place, place, const Wanted&) = delete;
template <class Less>
void reverse_equals(place, place, const Less&) = delete;
template <class Less, class Key>
void parallel_sort(place, place, const Less&, const Key&) = delete;
template <class Body, class How>
void parallel_for(place, place, Body&&, How) = delete;
template <class Value, class Combine>
record parallel_reduce(place, place, record, const Value&, const Combine&, std::size_t) = delete;
template <class Body, class How>
void for_each_dynamic(place, place, Body&&, How) = delete;
void shape_of(place, place) = delete;
int fork_join(job, job) = delete;

std::vector<record> records(std::size_t n) {
  std::vector<record> all(n);
  for (std::size_t i = 0; i != n; ++i) all[i].key = i * 7'919 % n;
  return all;
}

TEST(names, of_a_program_are_its_own) {
  constexpr std::size_t n = 66'001;
  auto all = records(n);
  filch::parallel_sort(all);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  std::reverse(all.begin(), all.end());
  filch::parallel_sort(all);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  all = records(n);
  filch::parallel_stable_sort(all);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  filch::parallel_for(all, [](record& each) { ++each.key; });
  std::atomic<std::size_t> items = 0;
  filch::for_each_dynamic(all, [&](const record&, filch::feeder<record>&) { ++items; });
  EXPECT_EQ(items, n);
  EXPECT_EQ(filch::parallel_reduce(all, record{0}).key, n * (n - 1) / 2 + n);
  EXPECT_EQ(filch::fork_join(job(), job(), job()), std::tuple(1, 1, 1));
}

}  // namespace
}  // namespace program
