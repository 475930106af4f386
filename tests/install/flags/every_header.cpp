// Includes every header that needs nothing but filch, and runs a little of most. Compiled with flags that programs have
// and filch itself is not built with: use_flags.sh. Exit status 0 if it all worked.
#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <filch/filch.hpp>
#include <filch/phaser.hpp>
#include <filch/places.hpp>
#include <filch/vm.hpp>

namespace {

int fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = filch::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

bool throws_what_was_thrown() {
  try {
    filch::task_group group;
    group.run([] { throw std::out_of_range("thrown"); });
    group.wait();
  } catch (const std::out_of_range& error) {
    return std::string(error.what()) == "thrown";
  }
  return false;
}

bool everything_works(filch::scheduler& pool) {
  std::vector<int> numbers(1000);
  filch::parallel_for(0, 1000, [&](int i) { numbers[static_cast<std::size_t>(i)] = 999 - i; });
  filch::parallel_sort(numbers);
  filch::parallel_inclusive_scan(numbers.begin(), numbers.end(), numbers.begin());
  const int sum = filch::parallel_reduce(0, 1000, 0, [](int i) { return i; }, std::plus<>{});

  filch::task_graph graph;
  int order = 0;
  const auto first = graph.add([&] { order = 1; });
  graph.add([&] { order = order * 10 + 2; }, {first});
  graph.run();

  int next = 0;
  int seen = 0;
  filch::pipeline(
      4, [&]() -> std::optional<int> { return next < 10 ? std::optional(next++) : std::nullopt; },
      filch::parallel([](int i) { return i + 1; }), filch::serial_in_order([&](int i) { seen += i; }));

  std::vector<bool> bits(1000);
  filch::parallel_for(bits.begin() + 1, bits.end(), [](auto&& bit) { bit = true; });
  filch::parallel_for(filch::blocked_range(bits.begin() + 100, bits.end()), [](const auto& part) {
    for (auto i = part.begin(); i != part.end(); ++i) *i = !*i;
  });
  const bool are_set = std::count(bits.begin(), bits.end(), true) == 99 && bits[1] && bits[99];

  const filch::future<int> answer = pool.submit([] { return 42; });
  filch::worker_local<int> counts(pool);
  counts.local() = 1;
  return are_set && sum == 999 * 500 && numbers.back() == sum && order == 12 && seen == 55 && answer.get() == 42 &&
         counts.combine(std::plus<>{}) == 1 && throws_what_was_thrown();
}

}  // namespace

int main() {
  filch::scheduler pool({.workers = 2});
  return pool.run([&] { return fib(15) == 610 && everything_works(pool); }) ? 0 : 1;
}
