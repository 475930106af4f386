// Closures of groups while their slots are used again at once, for every size and movability.
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "support.hpp"

namespace filch {
namespace {

std::atomic<long> alive{0};

/// Part of a closure that counts its copies; moving it may throw or not.
template <bool NothrowMove>
struct token {
  token() { ++alive; }
  token(const token& /*other*/) { ++alive; }
  token(token&& /*other*/) noexcept(NothrowMove) { ++alive; }
  token& operator=(const token&) = default;
  token& operator=(token&&) = default;
  ~token() { --alive; }
};

/// Not inlined, as what follows: the compiler would repeat them for each type.
[[gnu::noinline]] void run_own_tasks() {
  task_group inner;
  for (int i = 0; i < 3; ++i) inner.run([] {});
  inner.wait();
}

/// The task ran, and its closure has arrived whole.
[[gnu::noinline]] void check(const unsigned char* bytes, std::size_t count, tests::account& tasks, std::size_t number) {
  const auto sum = std::accumulate(bytes, bytes + count, std::size_t{0});
  if (sum == count * (number % 200)) tasks.ran(number);
}

template <std::size_t Bytes, bool NothrowMove>
struct closure {
  std::array<unsigned char, Bytes> bytes;
  token<NothrowMove> counted;
  tests::account* tasks;
  std::size_t number;

  void operator()() {
    // Own tasks first: they take the slot that this closure was kept in.
    run_own_tasks();
    check(bytes.data(), Bytes, *tasks, number);
  }
};

template <std::size_t Bytes, bool NothrowMove>
void spawn(task_group& group, tests::account& tasks, std::size_t number) {
  closure<Bytes, NothrowMove> c{{}, {}, &tasks, number};
  c.bytes.fill(static_cast<unsigned char>(number % 200));
  if (number % 2 == 0) {
    group.run(c);
  } else {
    group.run(std::move(c));
  }
}

/// Closures are as large as the next multiple of 8, so every fourth size meets each of them twice: with all of it used, and
/// with half of the last word.
template <std::size_t... Fourth>
void spawn_all(task_group& group, tests::account& tasks, std::size_t first, std::index_sequence<Fourth...> /*sizes*/) {
  (spawn<4 * Fourth + 3, true>(group, tasks, first + 2 * Fourth), ...);
  (spawn<4 * Fourth + 3, false>(group, tasks, first + 2 * Fourth + 1), ...);
}

class closures : public testing::TestWithParam<tests::configuration> {};

TEST_P(closures, of_every_size_and_movability) {
  constexpr std::size_t sizes = 16;
  constexpr std::size_t rounds = 80;
  scheduler s(GetParam().options());
  for (const bool on_heap : {false, true}) {
    tests::until_stolen(s, 1, [&] {
      tests::account tasks(2 * sizes * rounds);
      s.run([&] {
        task_group on_stack;
        const auto heap_group = std::make_unique<task_group>();
        task_group& group = on_heap ? *heap_group : on_stack;
        for (std::size_t r = 0; r < rounds; ++r) {
          spawn_all(group, tasks, 2 * sizes * r, std::make_index_sequence<sizes>());
        }
        group.wait();
      });
      EXPECT_EQ(tasks.first_not(1), tasks.size());
      EXPECT_EQ(alive, 0);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(stress, closures, testing::ValuesIn(tests::configurations({1, 2, 4, 16})), tests::name_of);

}  // namespace
}  // namespace filch
