// What becomes of continuations whose source has an error.
#include <exception>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

TEST(continuation, of_an_error_is_not_called_and_has_that_error) {
  scheduler pool({.workers = 2});
  bool called = false;
  promise<int> source;
  const auto [with_value, without] = pool.run([&] {
    return std::pair(source.get_future().then([&](int) { called = true; }),
                     source.get_future().then([&] { called = true; }));
  });
  source.put_error(std::make_exception_ptr(std::runtime_error("of the source")));
  EXPECT_THROW(with_value.get(), std::runtime_error);
  EXPECT_THROW(without.get(), std::runtime_error);
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace filch
