#include "platform/parker.hpp"

#include <thread>

#include <gtest/gtest.h>

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
