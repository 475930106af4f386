#include "processor_probes.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "processor_pause.hpp"

namespace filch::cli {

namespace {

using clock = std::chrono::steady_clock;

double ns_since(clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(clock::now() - begin).count();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The time of `operation()` by its number of units: the least of the repeats, since whatever disturbs the machine makes
// it longer.
template <class Operation>
double time_per_unit(int repeats, double units, Operation operation) {
  double least_ns = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const auto begin = clock::now();
    operation();
    least_ns = std::min(least_ns, ns_since(begin) / units);
  }
  return least_ns;
}

template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

std::vector<int> processors() {
  cpu_set_t set;
  std::vector<int> numbers;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) numbers.push_back(i);
  }
  return numbers;
}

// Binds the calling thread to one of the usable processors while it exists.
class binding {
 public:
  explicit binding(std::size_t which) {
    sched_getaffinity(0, sizeof before_, &before_);
    const std::vector<int> all = processors();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(all[which % all.size()]), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~binding() { sched_setaffinity(0, sizeof before_, &before_); }
  binding(const binding&) = delete;
  binding& operator=(const binding&) = delete;

 private:
  cpu_set_t before_{};
};

// A chain of pointers through an array, in random order, one per cache line.
double chase_ns(std::size_t bytes, std::size_t steps) {
  struct alignas(64) node {
    node* next;
  };
  std::vector<node> nodes(bytes / sizeof(node));
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64{1});
  for (std::size_t i = 0; i < order.size(); ++i) nodes[order[i]].next = &nodes[order[(i + 1) % order.size()]];
  node* at = nodes.data();
  return time_per_unit(7, static_cast<double>(steps), [&] {
    for (std::size_t i = 0; i < steps; ++i) at = at->next;
    keep(at);
  });
}

double stream_ns(std::size_t bytes) {
  constexpr double least_bytes = 64e6;  // in one measurement
  const std::vector<std::uint64_t> data(bytes / sizeof(std::uint64_t), 1);
  const int rounds = std::max(1, static_cast<int>(least_bytes / static_cast<double>(bytes)));
  return time_per_unit(5, rounds * static_cast<double>(bytes) / 64, [&] {
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t sum = std::accumulate(data.begin(), data.end(), std::uint64_t{0});
      keep(sum);
    }
  });
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// Long enough for a thread to be asleep, and its processor as well.
void let_sleep() { std::this_thread::sleep_for(std::chrono::microseconds{300}); }

std::atomic<std::int64_t> handler_ran_ns{0};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now().time_since_epoch()).count();
}

}  // namespace

int usable_processors() { return static_cast<int>(processors().size()); }

double hit_ns() {
  const binding here(0);
  return chase_ns(4096, 1'000'000);
}

double atomic_ns() {
  const binding here(0);
  std::atomic<std::uint64_t> word{0};
  constexpr int steps = 1'000'000;
  return time_per_unit(7, steps, [&] {
    for (int i = 0; i < steps; ++i) word.fetch_add(1, std::memory_order_seq_cst);
  });
}

double hand_over_ns() {
  constexpr std::uint32_t rounds = 50'000;
  alignas(64) std::atomic<std::uint32_t> turn{0};
  const auto play = [&](std::uint32_t first) {
    for (std::uint32_t i = first; i < 2 * rounds; i += 2) {
      while (turn.load(std::memory_order_acquire) != i) {
      }
      turn.store(i + 1, std::memory_order_release);
    }
  };
  return time_per_unit(15, 2.0 * rounds, [&] {
    turn.store(0, std::memory_order_relaxed);
    std::thread other([&] {
      const binding there(1);
      play(1);
    });
    {
      const binding here(0);
      play(0);
    }
    other.join();
  });
}

double memory_load_ns() {
  const binding here(0);
  return chase_ns(std::size_t{256} << 20, 1'000'000);
}

double streaming_line_ns(std::size_t bytes) {
  const binding here(0);
  return stream_ns(bytes);
}

double streaming_line_of_two_ns(std::size_t bytes) {
  double of_other = 0;
  std::thread other([&] {
    const binding there(1);
    of_other = stream_ns(bytes);
  });
  double own = 0;
  {
    const binding here(0);
    own = stream_ns(bytes);
  }
  other.join();
  return (own + of_other) / 4;
}

double pause_ns() {
  constexpr int steps = 100'000;
  return time_per_unit(7, steps, [] {
    for (int i = 0; i < steps; ++i) processor_pause();
  });
}

futex_costs measure_futex() {
  constexpr int repeats = 301;
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::int64_t> awake_ns{0};
  std::vector<double> calls;
  std::vector<double> latencies;
  std::thread sleeper([&] {
    const binding there(1);
    for (std::uint32_t i = 0; i < repeats; ++i) {
      while (word.load(std::memory_order_acquire) == i) futex(word, FUTEX_WAIT_PRIVATE, i);
      awake_ns.store(now_ns(), std::memory_order_release);
    }
  });
  {
    const binding here(0);
    for (std::uint32_t i = 0; i < repeats; ++i) {
      let_sleep();
      awake_ns.store(0, std::memory_order_relaxed);
      word.store(i + 1, std::memory_order_release);
      const std::int64_t begin = now_ns();
      futex(word, FUTEX_WAKE_PRIVATE, 1);
      const std::int64_t end = now_ns();
      std::int64_t awake = 0;
      while ((awake = awake_ns.load(std::memory_order_acquire)) == 0) processor_pause();
      calls.push_back(static_cast<double>(end - begin));
      latencies.push_back(static_cast<double>(std::max<std::int64_t>(awake - end, 0)));
    }
  }
  sleeper.join();

  // Two threads on one processor that wake each other in turn: each hand-over is a wake without an interrupt, a sleep,
  // and the switch to the other.
  constexpr std::uint32_t rounds = 20'000;
  std::atomic<std::uint32_t> turn{0};
  const auto play = [&](std::uint32_t first) {
    const binding same(0);
    for (std::uint32_t i = first; i < rounds; i += 2) {
      std::uint32_t seen = 0;
      while ((seen = turn.load(std::memory_order_acquire)) != i) futex(turn, FUTEX_WAIT_PRIVATE, seen);
      turn.store(i + 1, std::memory_order_release);
      futex(turn, FUTEX_WAKE_PRIVATE, 1);
    }
  };
  const auto begin = clock::now();
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  const double hand_over = ns_since(begin) / rounds;

  // Before a worker of filch sleeps it binds itself to its processor, and afterwards it frees itself again.
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  const double bind = time_per_unit(101, 1, [&] { sched_setaffinity(0, sizeof set, &set); });
  return {hand_over / 2 + bind, median_of(calls), median_of(latencies) + bind};
}

signal_costs measure_signal() {
  constexpr int repeats = 301;
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) { handler_ran_ns.store(now_ns(), std::memory_order_release); };
  sigaction(SIGURG, &action, &before);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    const binding there(1);
    while (!stop.load(std::memory_order_relaxed)) processor_pause();
  });
  std::vector<double> calls;
  std::vector<double> latencies;
  {
    const binding here(0);
    for (int i = 0; i < repeats; ++i) {
      let_sleep();
      handler_ran_ns.store(0, std::memory_order_relaxed);
      const std::int64_t begin = now_ns();
      pthread_kill(other.native_handle(), SIGURG);
      const std::int64_t end = now_ns();
      std::int64_t ran = 0;
      while ((ran = handler_ran_ns.load(std::memory_order_acquire)) == 0) processor_pause();
      calls.push_back(static_cast<double>(end - begin));
      latencies.push_back(static_cast<double>(std::max<std::int64_t>(ran - end, 0)));
    }
  }
  stop.store(true, std::memory_order_relaxed);
  other.join();
  sigaction(SIGURG, &before, nullptr);
  return {median_of(calls), median_of(latencies)};
}

std::size_t private_cache_bytes() { return static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE))); }

std::size_t shared_cache_bytes() { return static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE))); }

}  // namespace filch::cli
