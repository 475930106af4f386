// filch_refusals threads|memory|space: a system that refuses threads, or memory, at each place where it may be asked for
// some, or room for the workers' stacks.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/filch.hpp>

#include "expect.hpp"

namespace {

std::atomic<int> threads_left = 1'000'000;

/// Allocations of any thread until one is refused, which is one alone; negative: none will be.
std::atomic<long> allocations_left = -1;
std::atomic<bool> refused = false;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocations_left.load(std::memory_order_relaxed) >= 0 && allocations_left.fetch_sub(1) == 0) {
    refused = true;
    throw std::bad_alloc();
  }
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* const p = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) return p;
  throw std::bad_alloc();
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* with) {
  if (threads_left.fetch_sub(1) <= 0) return EAGAIN;
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, start, with);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

// As in allocation_test.cpp.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t /*bytes*/) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t /*alignment*/) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(p);
}

namespace {

using filch::tests::expect;

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = filch::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

void threads() {
  // Who says how many wants as many.
  for (int left = 0; left < 7; ++left) {
    threads_left = left;
    try {
      filch::scheduler pool({.workers = 8});
      expect(false, "a scheduler of eight without seven threads");
    } catch (const std::system_error& error) {
      expect(std::strstr(error.what(), "thread") != nullptr, "the error says what is missing");
    }
  }
  // Who does not takes what there is.
  threads_left = 0;
  filch::scheduler alone;
  expect(alone.workers() == 1, "a scheduler without threads");
  expect(alone.run([] { return fib(15); }) == 610, "fib without threads");
  expect(fib(15) == 610, "fib by the default scheduler without threads");
  alone.run([] { const filch::blocking here; });
  try {
    static_cast<void>(alone.submit([] {}));
    expect(false, "a submitted task that no thread can run");
  } catch (const std::system_error&) {
    threads_left = 1;
  }
  expect(alone.submit([] { return 3; }).get() == 3, "a task submitted when there are threads again");
}

/// Many threads use filch for the first time, at once: only one starts the workers.
void first_use() {
  constexpr int workers = 9;
  setenv("FILCH_WORKERS", std::to_string(workers).c_str(), 1);
  constexpr int users = 24;
  const int before = threads_left;
  std::atomic<int> ready = 0;
  std::vector<std::thread> all;
  for (int i = 0; i != users; ++i) {
    all.emplace_back([&] {
      for (++ready; ready != users;) std::this_thread::yield();
      expect(fib(12) == 144, "fib at the first use");
    });
  }
  for (std::thread& each : all) each.join();
  const int lookouts = filch::discover_topology().usable_workers < workers ? 1 : 0;
  expect(before - threads_left == users + workers - 1 + lookouts, "each worker's thread is started once");
}

/// Calls f again and again; each time the next one of its allocations fails. It has to throw std::bad_alloc, or to do
/// without.
template <class F>
void with_every_refusal(const char* name, const F& f) {
  constexpr long most = 2000;
  long n = 0;
  for (; n < most; ++n) {
    refused = false;
    allocations_left = n;
    bool threw = false;
    try {
      f();
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    allocations_left = -1;
    if (!refused) break;
    if (!threw) continue;
    f();  // nothing is broken
  }
  std::printf("%s: %ld allocations refused\n", name, n);
  static_cast<void>(std::fflush(stdout));
  expect(n < most, "a construct has few allocations");
}

void memory() {
  with_every_refusal("scheduler", [] {
    filch::scheduler pool({.workers = 3});
    pool.run([] { fib(8); });
  });
  for (const char* const policy :
       {"standard", "chase_lev", "receiver", "sender", "lazy_breadth", "adws", "constrained", "serial"}) {
    std::printf("policy %s\n", policy);
    filch::scheduler pool({.workers = 3, .policy = policy});
    const auto in_pool = [&](const char* name, const auto& f) { with_every_refusal(name, [&] { pool.run(f); }); };
    in_pool("fork_join", [] { expect(fib(12) == 144, "fib"); });
    in_pool("stack group", [] {
      std::atomic<int> ran = 0;
      filch::task_group group;
      const std::array<char, 100> large{};
      for (int i = 0; i < 20; ++i) group.run([&ran, large] { ran += large[0] + 1; });
      group.wait();
      expect(ran == 20, "tasks of a group");
    });
    in_pool("heap group", [] {
      std::atomic<int> ran = 0;
      const auto group = std::make_unique<filch::task_group>();
      for (int i = 0; i < 20; ++i) group->run([&] { ++ran; });
      group->wait();
      expect(ran == 20, "tasks of a group on the heap");
    });
    in_pool("group with exceptions", [] {
      filch::task_group group;
      for (int i = 0; i < 5; ++i) group.run([] { throw std::runtime_error("expected"); });
      try {
        group.wait();
        expect(false, "an exception");
      } catch (const std::runtime_error&) {
      }
    });
    const std::list<int> numbers(3000, 1);
    in_pool("loops", [&] {
      std::atomic<int> ran = 0;
      filch::parallel_for(0, 3000, [&](int /*i*/) { ++ran; });
      filch::parallel_for(numbers, [&](int i) { ran += i; });
      expect(ran == 6000, "iterations");
    });
    in_pool("reduction", [] {
      expect(filch::parallel_reduce(
                 0, 200, std::string(),
                 [](int i) {
                   return std::string(1, static_cast<char>('a' + i % 26));
                 }).size() == 200,
             "a reduction of strings");
    });
    in_pool("sorts and scans", [] {
      std::vector<int> keys(5000);
      for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i * 7919 % 5003);
      filch::parallel_stable_sort(keys);
      expect(std::ranges::is_sorted(keys), "a stable sort");
      filch::parallel_inclusive_scan(keys.begin(), keys.end(), keys.begin());
    });
    in_pool("bag", [] {
      std::atomic<int> seen = 0;
      const std::array<int, 1> root{10};
      filch::for_each_dynamic(root.begin(), root.end(), [&](int left, filch::feeder<int>& more) {
        ++seen;
        for (int i = 0; i < 2 && left > 0; ++i) more.push(left - 1);
      });
      expect(seen == 2047, "items of a bag");
    });
    in_pool("submitted", [&] {
      const filch::future<int> one = pool.submit([] { return 1; });
      const filch::future<int> two = one.then([](int i) { return i + 1; });
      expect(two.get() == 2, "a continuation");
      expect(std::get<0>(filch::when_all(one, two).get()).get() == 1, "all of two");
    });
    in_pool("value moved out of a future", [] {
      filch::promise<std::unique_ptr<int>> made;
      filch::future<std::unique_ptr<int>> once = made.get_future();
      const filch::future<std::unique_ptr<int>> again = once;
      made.put(std::make_unique<int>(7));
      try {
        expect(*std::move(once).get() == 7, "the value");
      } catch (const std::bad_alloc&) {
        expect(again.get() != nullptr, "the value is there still");
        throw;
      }
    });
    in_pool("blocking", [] { const filch::blocking here; });
    in_pool("worker_local", [] {
      filch::worker_local<int> each;
      filch::parallel_for(0, 100, [&](int /*i*/) { ++each.local(); });
    });
    if (std::strcmp(policy, "constrained") == 0) {
      in_pool("repeated", [] {
        filch::repeated part;
        for (int i = 0; i < 3; ++i) part.run([] { fib(8); });
      });
    }
  }
}

/// Bytes of addresses that the process has.
rlim_t size_in_bytes() {
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  expect(file != nullptr && std::fscanf(file, "%ld", &pages) == 1, "/proc/self/statm says how large the process is");
  std::fclose(file);
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// Workers of a scheduler that does not say how many, in a process with so much room; 0: there is none.
int workers_with(rlim_t more_bytes) {
  const pid_t child = fork();
  expect(child >= 0, "fork");
  if (child == 0) {
    const rlimit limit{size_in_bytes() + more_bytes, RLIM_INFINITY};
    expect(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
    try {
      filch::scheduler pool;
      expect(pool.run([] { return fib(15); }) == 610, "fib with as many workers as there is room for");
      std::_Exit(std::min(pool.workers(), 100));
    } catch (const std::bad_alloc&) {
      std::_Exit(0);
    } catch (const std::system_error&) {
      std::_Exit(0);
    }
  }
  int status = 0;
  expect(waitpid(child, &status, 0) == child && WIFEXITED(status), "the child ends by itself");
  return WEXITSTATUS(status);
}

void space() {
  constexpr rlim_t step = rlim_t{20} << 20;
  const int all = std::min(filch::discover_topology().usable_workers, 100);
  std::vector<int> found;
  for (rlim_t room = 0; found.empty() || found.back() < all; room += step) found.push_back(workers_with(room));
  expect(std::is_sorted(found.begin(), found.end()), "more room, more workers");
  expect(std::find(found.begin(), found.end(), 1) != found.end(), "one worker where there is no room for two");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string chosen = argc == 2 ? argv[1] : "";
  if (chosen == "threads") {
    threads();
  } else if (chosen == "first_use") {
    first_use();
  } else if (chosen == "memory") {
    memory();
  } else if (chosen == "space") {
    space();
  } else {
    static_cast<void>(std::fputs("filch_refusals: say threads, first_use, memory or space\n", stderr));
    return 2;
  }
  return 0;
}
