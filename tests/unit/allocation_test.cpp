// No allocation per task: counted by replacing the global allocation functions of the test program.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/places.hpp>

namespace {

thread_local std::size_t allocations = 0;
thread_local bool out_of_memory = false;
thread_local std::size_t fails_at = 0;  ///< that allocation of the thread throws; 0: none

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  if (out_of_memory || (fails_at != 0 && --fails_at == 0)) throw std::bad_alloc();
  // aligned_alloc wants a multiple of the alignment.
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* const p = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) return p;
  throw std::bad_alloc();
}

}  // namespace

// Not inlined: gcc takes the pair of aligned_alloc and free for a mistake where it sees one of both in a program's
// code.
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

namespace filch {
namespace {

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

template <std::size_t Bytes>
std::size_t allocations_of_group(int tasks) {
  std::array<char, Bytes> closure{};
  closure.fill(1);
  const std::size_t before = allocations;
  task_group group;
  for (int i = 0; i < tasks; ++i) {
    group.run([closure] { static_cast<void>(closure); });
  }
  group.wait();
  return allocations - before;
}

TEST(allocation, none_per_fork_join) {
  for (const char* policy : {"lace", "chase_lev"}) {
    scheduler one({.workers = 1, .policy = policy});
    one.run([] {
      fib(20);  // the ring of chase_lev has its size now
      const std::size_t before = allocations;
      fib(20);
      EXPECT_EQ(allocations, before);
    });
  }
}

TEST(allocation, none_per_task_of_the_innermost_group_up_to_40_bytes) {
  scheduler one({.workers = 1});
  one.run([] {
    EXPECT_EQ(allocations_of_group<1>(100), 0U);
    EXPECT_EQ(allocations_of_group<40>(100), 0U);
    EXPECT_EQ(allocations_of_group<41>(100), 100U);  // and this is what would be counted
  });
}

TEST(allocation, none_for_groups_inside_inlined_branches) {
  scheduler one({.workers = 1});
  one.run([] {
    const auto [in_first, in_second] =
        fork_join([] { return allocations_of_group<8>(10); }, [] { return allocations_of_group<8>(10); });
    EXPECT_EQ(in_first, 0U);
    EXPECT_EQ(in_second, 0U);
  });
}

/// An iteration throws when there is no memory left: its exception arrives all the same.
TEST(allocation, none_for_what_an_iteration_throws) {
  scheduler one({.workers = 1});
  one.run([] {
    bool caught = false;
    const std::size_t before = allocations;
    try {
      parallel_for(
          0, 100,
          [](int i) {
            if (i != 50) return;
            out_of_memory = true;
            throw i;
          },
          loop::standard{.grain = 1});
    } catch (int i) {
      caught = i == 50;
    }
    out_of_memory = false;
    EXPECT_TRUE(caught);
    EXPECT_EQ(allocations, before);
  });
}

// The next round of the group has nothing to do with it.
TEST(allocation, that_fails_for_an_exception_ends_the_round_alone) {
  scheduler one({.workers = 1});
  one.run([] {
    task_group group;
    group.run([] { throw std::runtime_error("of the first round"); });
    group.run([] {  // the newest, which comes first
      out_of_memory = true;
      throw 1;
    });
    EXPECT_THROW(group.wait(), std::bad_alloc);
    out_of_memory = false;
    group.run([] { out_of_memory = false; });
    EXPECT_EQ(group.wait(), group_status::complete);
  });
}

// Submitted tasks come into the queue of who submits them; without memory for a place there into the first one, which
// was made for a thread that is gone.
TEST(allocation, that_fails_loses_no_submitted_task) {
  scheduler pool({.workers = 2});
  pool.run([&] {
    std::thread guest([&] { pool.run([&] { pool.submit([] {}).get(); }); });
    guest.join();
    for (std::size_t nth = 1; nth != 8; ++nth) {
      std::optional<future<>> submitted;
      fails_at = nth;
      try {
        submitted = pool.submit([] {});
      } catch (const std::bad_alloc&) {
        // Nothing was submitted.
      }
      fails_at = 0;
      if (!submitted) continue;
      while (!submitted->is_ready()) std::this_thread::yield();  // who waits would look for it
    }
  });
}

std::vector<unsigned> scattered(std::size_t n) {
  std::vector<unsigned> numbers(n);
  for (std::size_t i = 0; i != n; ++i) numbers[i] = static_cast<unsigned>(i) * 2654435761U;
  return numbers;
}

TEST(allocation, none_for_a_sort_in_place) {
  scheduler one({.workers = 1});
  one.run([] {
    auto numbers = scattered(70'000);
    const std::size_t before = allocations;
    parallel_sort(numbers.begin(), numbers.end());
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  });
}

TEST(allocation, that_fails_leaves_what_a_stable_sort_was_to_sort) {
  scheduler one({.workers = 1});
  one.run([] {
    auto numbers = scattered(5000);
    const auto original = numbers;
    out_of_memory = true;
    EXPECT_THROW(parallel_stable_sort(numbers.begin(), numbers.end()), std::bad_alloc);
    out_of_memory = false;
    EXPECT_EQ(numbers, original);
    parallel_stable_sort(numbers.begin(), numbers.end());
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  });
}

// Whichever allocation fails, the call throws, and the finish is over when the tasks are that were made.
TEST(allocation, that_fails_adds_nothing_to_a_finish) {
  const auto calls = std::to_array<void (*)(const future<>&, phaser&, std::atomic<int>&)>({
      [](const future<>& ready, phaser& /*phases*/, std::atomic<int>& ran) {
        places::async_await([&ran] { ++ran; }, ready);
      },
      [](const future<>& /*ready*/, phaser& phases, std::atomic<int>& ran) {
        places::async_phased(phases, [&ran](std::size_t) { return ++ran, false; });
      },
      [](const future<>& /*ready*/, phaser& /*phases*/, std::atomic<int>& ran) {
        places::async_any([&ran] { ++ran; });
      },
      [](const future<>& /*ready*/, phaser& /*phases*/, std::atomic<int>& ran) {
        places::async_at(0, [&ran] { ++ran; });
      },
  });
  for (const auto call : calls) {
    bool threw = true;
    for (std::size_t nth = 1; threw; ++nth) {
      std::atomic<int> ran{0};
      places::run_alone({.scheduler = {.workers = 2}}, [&] {
        promise<> first;
        const future<> ready = first.get_future();
        places::finish_spmd([&] {
          phaser phases;
          fails_at = nth;
          try {
            call(ready, phases, ran);
            threw = false;
          } catch (const std::bad_alloc&) {
          }
          fails_at = 0;
          first.put();
        });
        return 0;
      });
      EXPECT_EQ(ran, threw ? 0 : 1) << "allocation " << nth;
    }
  }
}

TEST(allocation, that_fails_leaves_a_promise_without_a_value_an_error) {
  const promise<> kept;
  future<> broken;
  {
    promise<> ends;
    broken = ends.get_future();
    out_of_memory = true;
  }
  out_of_memory = false;
  EXPECT_THROW(static_cast<void>(broken.get()), std::bad_alloc);
}

// Run once more with each record of a call that the environment asks for: see CMakeLists.txt.
TEST(allocation, that_fails_as_a_call_begins_leaves_the_scheduler_as_it_was) {
  scheduler pool({.workers = 2});
  std::size_t calls = 0;
  for (bool began = false; !began; ++calls) {
    fails_at = calls + 1;
    try {
      pool.run([&began] {
        began = true;
        fails_at = 0;
      });
    } catch (const std::bad_alloc&) {
      EXPECT_FALSE(began);
    }
  }
  fails_at = 0;
  EXPECT_EQ(pool.run([] { return fib(15); }), 610);
  // All calls but the last have failed.
  if (std::getenv("FILCH_RECORD") != nullptr || std::getenv("FILCH_PROFILE") != nullptr) {
    EXPECT_GE(calls, 2U);
  }
}

}  // namespace
}  // namespace filch
