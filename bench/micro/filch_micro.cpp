// Micro-benchmarks of single operations, for each policy: what a fork, a group's task and waking an idle team cost. The
// label of a row is the name of its policy.
//
//   fork_join_empty     a fork_join of two empty branches, one worker
//   group_run           a task_group with one small task, one worker
//   fib                 fib(27), one worker
//   fib_inlined         the same on a bare Chase-Lev deque without thieves
//   two_tasks           two tasks of so many microseconds after the team was idle for 5 ms
//   two_tasks_serial    the same, one after the other on one thread
//   wake_thread         waking one parked thread on another processor, for comparison with the rows above
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <filch/filch.hpp>

#include "inlined_chase_lev.hpp"
#include "parked_thread.hpp"

namespace filch::bench {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int fib_n = 27;
constexpr std::int64_t fib_forks = 317810;  // fib(28) - 1
constexpr auto idle_before = 5ms;           // long enough for every worker to be asleep
constexpr int repeats_after_idling = 200;

// The policy that a row's first argument stands for; also labels the row.
std::string policy_of(benchmark::State& state) {
  std::string name(combinations()[static_cast<std::size_t>(state.range(0))].policy);
  state.SetLabel(name);
  return name;
}

void spin_for(clock::duration duration) {
  const auto end = clock::now() + duration;
  while (clock::now() < end) {
  }
}

void fork_join_empty(benchmark::State& state) {
  scheduler pool({.workers = 1, .policy = policy_of(state)});
  pool.run([&] {
    for (auto _ : state) {
      // The branches do nothing, but the compiler does not know.
      fork_join([] { asm volatile(""); }, [] { asm volatile(""); });
    }
  });
}

void group_run(benchmark::State& state) {
  scheduler pool({.workers = 1, .policy = policy_of(state)});
  pool.run([&] {
    int sum = 0;
    for (auto _ : state) {
      task_group group;
      group.run([&sum] { ++sum; });
      group.wait();
      benchmark::DoNotOptimize(sum);
    }
  });
}

long fib_forked(int n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([=] { return fib_forked(n - 1); }, [=] { return fib_forked(n - 2); });
  return a + b;
}

void fib(benchmark::State& state) {
  scheduler pool({.workers = 1, .policy = policy_of(state)});
  pool.run([&] {
    for (auto _ : state) benchmark::DoNotOptimize(fib_forked(fib_n));
  });
  state.SetItemsProcessed(state.iterations() * fib_forks);
}

// The same, with the deque's operations in place of fork_join.
long fib_inlined(inlined_chase_lev& deque, int n) {
  struct task {
    int n;
  };
  if (n < 2) return n;
  task second{n - 2};
  deque.push(&second);
  const long a = fib_inlined(deque, n - 1);
  const auto* const popped = static_cast<const task*>(deque.pop());
  return a + fib_inlined(deque, popped->n);
}

void fib_inlined_chase_lev(benchmark::State& state) {
  inlined_chase_lev deque;
  for (auto _ : state) benchmark::DoNotOptimize(fib_inlined(deque, fib_n));
  state.SetItemsProcessed(state.iterations() * fib_forks);
}

// The caller's time for `operation`, with everybody else asleep each time. The median is a counter of its own: now and
// then the machine is busy with something else for milliseconds, and the mean shows that only.
template <class Operation>
void time_after_idling(benchmark::State& state, Operation operation) {
  std::vector<double> times_us;
  for (auto _ : state) {
    std::this_thread::sleep_for(idle_before);
    const auto begin = clock::now();
    operation();
    const std::chrono::duration<double> elapsed = clock::now() - begin;
    state.SetIterationTime(elapsed.count());
    times_us.push_back(elapsed.count() * 1e6);
  }
  const auto middle = times_us.begin() + static_cast<std::ptrdiff_t>(times_us.size() / 2);
  std::nth_element(times_us.begin(), middle, times_us.end());
  state.counters["median_us"] = *middle;
}

void two_tasks(benchmark::State& state) {
  const std::chrono::microseconds length(state.range(1));
  scheduler pool({.policy = policy_of(state)});
  time_after_idling(state, [&] { pool.run([&] { fork_join([&] { spin_for(length); }, [&] { spin_for(length); }); }); });
}

void two_tasks_serial(benchmark::State& state) {
  const std::chrono::microseconds length(state.range(0));
  time_after_idling(state, [&] {
    spin_for(length);
    spin_for(length);
  });
}

void wake_thread(benchmark::State& state) {
  parked_thread sleeper;
  sleeper.keep_off_this_processor();
  time_after_idling(state, [&] { sleeper.wake(); });
}

constexpr std::int64_t task_lengths_us[] = {1, 1000};

void for_each_policy(benchmark::internal::Benchmark* rows) {
  rows->ArgName("policy")->DenseRange(0, static_cast<int>(combinations().size()) - 1);
}

void for_each_policy_and_length(benchmark::internal::Benchmark* rows) {
  rows->ArgNames({"policy", "us"});
  for (const std::int64_t length_us : task_lengths_us) {
    for (std::size_t i = 0; i < combinations().size(); ++i) rows->Args({static_cast<std::int64_t>(i), length_us});
  }
}

void for_each_length(benchmark::internal::Benchmark* rows) {
  rows->ArgName("us");
  for (const std::int64_t length_us : task_lengths_us) rows->Arg(length_us);
}

void after_idling(benchmark::internal::Benchmark* rows) {
  rows->UseManualTime()->Iterations(repeats_after_idling)->Unit(benchmark::kMicrosecond);
}

BENCHMARK(fork_join_empty)->Apply(for_each_policy);
BENCHMARK(group_run)->Apply(for_each_policy);
BENCHMARK(fib)->Apply(for_each_policy)->Unit(benchmark::kMillisecond);
BENCHMARK(fib_inlined_chase_lev)->Name("fib_inlined")->Unit(benchmark::kMillisecond);
BENCHMARK(two_tasks)->Apply(for_each_policy_and_length)->Apply(after_idling);
BENCHMARK(two_tasks_serial)->Apply(for_each_length)->Apply(after_idling);
BENCHMARK(wake_thread)->Apply(after_idling);

}  // namespace
}  // namespace filch::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
