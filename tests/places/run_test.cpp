// places::run without a launcher: one place, again and again.
#include <array>
#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include <filch/places.hpp>

namespace places = filch::places;

namespace {

TEST(places_run, has_one_place) {
  std::array<char*, 1> values{nullptr};
  const auto main = [](int count_of, char** /*values*/) {
    EXPECT_EQ(places::count(), 1);
    EXPECT_EQ(places::here(), 0);
    std::atomic<int> ran{0};
    places::finish_spmd([&] {
      for (int i = 0; i < 10; ++i) places::async_any([&ran] { ++ran; });
    });
    return count_of + ran;
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(places::run(i, values.data(), main), i + 10);
}

TEST(places_run, throws_what_main_throws) {
  EXPECT_THROW(places::run(0, nullptr, [](int, char**) { throw std::domain_error("on purpose"); }), std::domain_error);
}

TEST(places_run, rejects_bad_options) {
  EXPECT_THROW(places::run(0, nullptr, {.policy = "greedy"}, [](int, char**) {}), std::invalid_argument);
}

}  // namespace
