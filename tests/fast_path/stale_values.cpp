// Locals that closures change by reference, each by one at a time, read by the caller after each construct. Compiled with the optimisations at which
// a compiler knows most of what functions do and inlines least.
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include <filch/filch.hpp>

namespace {

int failures = 0;

void expect(const char* construct, long found, long expected) {
  if (found == expected) return;
  std::printf("%s: %ld instead of %ld\n", construct, found, expected);
  ++failures;
}

// Adds tasks that refer to itself.
struct visitor {
  filch::task_group& group;
  long& sum;
  void visit(int depth) {
    ++sum;
    if (depth != 0) group.run([this, depth] { visit(depth - 1); });
  }
};

void check_tasks() {
  long in_first = 0, in_second = 0;
  filch::fork_join([&] { in_first = 1; }, [&] { in_second = 2; });
  expect("fork_join", in_first + 10 * in_second, 21);
  {
    filch::task_group group;
    group.run([&] { in_first = 3; });
    group.run([&] { in_second = 4; });
    group.wait();
    expect("task_group", in_first + 10 * in_second, 43);
  }
  long visited = 0;
  {
    filch::task_group group;
    visitor all{group, visited};
    all.visit(5);
    group.wait();
    expect("task_group, recursive", visited, 6);
  }
  long on_heap = 0;
  {
    const auto group = std::make_unique<filch::task_group>();
    visitor all{*group, on_heap};
    group->run([&] { all.visit(5); });
    group->wait();
    expect("task_group on the heap", on_heap, 6);
  }
  long invoked = 0;
  filch::parallel_invoke([&] { invoked += 1; }, [] {}, [] {});
  expect("parallel_invoke", invoked, 1);
  long graph_sum = 0;
  filch::task_graph graph;
  const auto first = graph.add([&] { graph_sum += 1; });
  graph.add([&] { graph_sum *= 3; }, {first});
  graph.run();
  expect("task_graph", graph_sum, 3);
  long background = 0;
  filch::scheduler::default_scheduler().submit([&] { background = 4; }).then([&] { background += 1; }).wait();
  expect("submit and then", background, 5);
}

void check_loops() {
  std::vector<int> v(4);
  std::iota(v.begin(), v.end(), 1);
  long sum = 0;
  filch::parallel_for(0, 1, [&](int i) { sum += i + 7; });
  expect("parallel_for", sum, 7);
  sum = 0;
  filch::parallel_for(v, [&](int& i) {
    if (i == 3) sum = 9;
  });
  expect("parallel_for over a vector", sum, 9);
  long calls = 0;
  const long reduced = filch::parallel_reduce(0, 1, 0L, [&](int i) { return ++calls, i + 2L; });
  expect("parallel_reduce", calls + 10 * reduced, 21);
  long compared = 0;
  filch::parallel_sort(v.begin(), v.end(), [&](int a, int b) {
    compared = 1;
    return a > b;
  });
  expect("parallel_sort", compared + 10 * v[0], 41);
  long scanned = 0;
  filch::parallel_inclusive_scan(v.begin(), v.end(), v.begin(), [&](int a, int b) {
    scanned = 1;
    return a + b;
  });
  expect("parallel_inclusive_scan", scanned + 10 * v[3], 101);
  long items = 0;
  std::vector<int> roots{3};
  filch::for_each_dynamic(roots, [&](int& i, filch::feeder<int>& more) {
    ++items;
    if (i != 0) more.push(i - 1);
  });
  expect("for_each_dynamic", items, 4);
}

// In a function of its own, of closures that are nowhere else: with others around, gcc 12.2 gets it right.
void check_one_stage() {
  long sum = 0;
  int made = 0;
  filch::pipeline(
      1,
      [&]() -> std::optional<int> {
        if (made == 3) return {};
        return made++;
      },
      filch::serial([&](int j) { sum += j; }));
  expect("pipeline of one stage", sum, 3);
}

void check_pipelines() {
  check_one_stage();
  long sum = 0;
  int made = 0;
  const auto source = [&]() -> std::optional<int> { return made == 3 ? std::optional<int>() : made++; };
  filch::pipeline(1, source, [&](int j) { return sum += j; }, filch::serial_in_order([&](long j) { sum = j; }));
  expect("pipeline of two stages", sum + 10 * made, 33);
}

}  // namespace

int main() {
  for (int i = 0; i < 2; ++i) {
    check_tasks();
    check_loops();
    check_pipelines();
  }
  return failures == 0 ? 0 : 1;
}
