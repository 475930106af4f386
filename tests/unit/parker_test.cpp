#include "platform/parker.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "platform/clock.hpp"

namespace filch::platform {
namespace {

TEST(parker, a_token_that_came_first_is_not_lost) {
  parker p;
  p.unpark();
  p.unpark();  // still one token
  p.park();
  std::thread waker([&] { p.unpark(); });
  p.park();
  waker.join();
}

TEST(parker, goes_without_a_token_at_a_deadline_and_takes_one_that_comes_before) {
  parker p;
  const std::int64_t soon = now_ns() + 2'000'000;
  p.park_until(soon);
  EXPECT_GE(now_ns(), soon);
  p.park_until(0);  // long past
  std::thread waker([&] { p.unpark(); });
  p.park_until(now_ns() + 3'600'000'000'000);  // an hour
  waker.join();
  p.unpark();
  p.park_until(0);  // takes the token
  const std::int64_t later = now_ns() + 2'000'000;
  p.park_until(later);
  EXPECT_GE(now_ns(), later);
}

TEST(parker, loses_no_token_that_comes_at_the_deadline) {
  constexpr int rounds = 3'000;
  parker p;
  std::atomic<int> asked{0};
  std::atomic<int> done{0};
  std::thread waker([&] {
    for (int i = 1; i <= rounds; ++i) {
      while (asked < i) yield();
      done = i;
      p.unpark();
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    asked = i;
    p.park_until(now_ns() + i % 64 * 1'000);  // ends before the token comes, after it, or just then
    while (done < i) p.park();                // for ever, if it got lost
  }
  waker.join();
}

TEST(parker, hands_over_data_each_time) {
  constexpr int rounds = 20'000;
  parker ping;
  parker pong;
  int shared = 0;  // plain: handed over by the tokens alone
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      ping.park();
      ++shared;
      pong.unpark();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    ++shared;
    ping.unpark();
    pong.park();
  }
  other.join();
  EXPECT_EQ(shared, 2 * rounds);
}

}  // namespace
}  // namespace filch::platform
