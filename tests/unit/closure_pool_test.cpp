#include "worker/closure_pool.hpp"

#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace filch::detail {
namespace {

void* new_block() { return ::operator new(pooled_bytes); }

std::size_t take_all(closure_pool& pool) {
  std::size_t count = 0;
  while (void* const block = pool.take()) {
    ::operator delete(block);
    ++count;
  }
  return count;
}

TEST(closure_pool, gives_out_what_was_put_into_it) {
  closure_pool pool;
  EXPECT_EQ(pool.take(), nullptr);
  std::set<void*> put;
  for (int i = 0; i < 1000; ++i) pool.put(*put.insert(new_block()).first);
  std::set<void*> taken;
  while (void* const block = pool.take()) taken.insert(block);
  EXPECT_EQ(taken, put);
  for (void* const block : taken) ::operator delete(block);
}

TEST(closure_pool, keeps_no_more_than_a_megabyte_of_each_kind) {
  closure_pool pool;
  for (int i = 0; i < 50'000; ++i) pool.put(new_block());
  EXPECT_LE(take_all(pool) * pooled_bytes, 1'100'000U);
  {
    closure_pool::blocks_on_their_way back;
    for (int i = 0; i < 50'000; ++i) back.add(new_block(), pool);
  }
  const std::size_t returned = take_all(pool);
  EXPECT_LE(returned * pooled_bytes, 1'100'000U);
  EXPECT_GE(returned, 1000U);
  // Both at once.
  for (int i = 0; i < 50'000; ++i) pool.put(new_block());
  {
    closure_pool::blocks_on_their_way back;
    for (int i = 0; i < 50'000; ++i) back.add(new_block(), pool);
  }
  EXPECT_LE(take_all(pool) * pooled_bytes, 2'200'000U);
}

TEST(closure_pool, a_few_blocks_of_each_of_many_pools_go_to_the_system) {
  std::vector<closure_pool> pools(10);
  closure_pool::blocks_on_their_way back;
  for (int round = 0; round < 100; ++round) {
    for (closure_pool& pool : pools) back.add(new_block(), pool);
  }
  for (closure_pool& pool : pools) EXPECT_EQ(pool.take(), nullptr);
}

// Under the sanitizers as well: a block that two have at a time is a race, one that nobody has a leak.
TEST(closure_pool, blocks_go_round_between_threads) {
  constexpr int rounds = 20'000;
  closure_pool pool;
  std::mutex mutex;
  std::vector<void*> made;
  bool over = false;
  std::size_t taken_again = 0;
  const auto end_all = [&] {
    closure_pool::blocks_on_their_way back;
    for (;;) {
      std::vector<void*> mine;
      bool last = false;
      {
        const std::lock_guard lock(mutex);
        mine.swap(made);
        last = over;
      }
      for (void* const block : mine) {
        std::memset(block, 1, pooled_bytes);
        back.add(block, pool);
      }
      if (mine.empty() && last) return;
      std::this_thread::yield();
    }
  };
  std::array<std::thread, 2> others{std::thread(end_all), std::thread(end_all)};
  for (int i = 0; i < rounds; ++i) {
    void* block = pool.take();
    if (block != nullptr) {
      ++taken_again;
    } else {
      block = new_block();
    }
    std::memset(block, 2, pooled_bytes);
    const std::lock_guard lock(mutex);
    made.push_back(block);
  }
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  for (std::thread& t : others) t.join();
  EXPECT_GT(taken_again + take_all(pool), 0U);
}

}  // namespace
}  // namespace filch::detail
