// Of a program of two files, one compiled with NDEBUG and one without: each must compile without warnings, and the two
// agree on what filch is.
#pragma once

#include <functional>
#include <vector>

#include <filch/filch.hpp>

/// 2004, in either file.
inline long sum_up(filch::scheduler& pool) {
  return pool.run([] {
    std::vector<long> numbers(1000, 1);
    filch::task_group group;
    group.run([&] { filch::parallel_for(numbers, [](long& n) { ++n; }); });
    group.wait();
    const auto [a, b] = filch::fork_join([&] { return numbers.front(); }, [&] { return numbers.back(); });
    return a + b +
           filch::parallel_reduce(
               0, 1000, 0L, [&](int i) { return numbers[static_cast<std::size_t>(i)]; }, std::plus<>{});
  });
}

long sum_up_with_assertions(filch::scheduler& pool);
