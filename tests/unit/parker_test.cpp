#include "platform/parker.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filch/filch.hpp>

#include "platform/clock.hpp"
#include "platform/interrupt.hpp"

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

/// Processors, as a list.
using processor_list = std::vector<int>;

processor_list mask_of(pid_t thread) {
  cpu_set_t set;
  processor_list found;
  if (sched_getaffinity(thread, sizeof set, &set) != 0) return found;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) found.push_back(i);
  }
  return found;
}

void bind_to(pid_t thread, const processor_list& to) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int i : to) CPU_SET(static_cast<std::size_t>(i), &set);
  sched_setaffinity(thread, sizeof set, &set);
}

/// A thread that parks until it is told to stop. It may be bound meanwhile.
class sleeper {
 public:
  explicit sleeper(bool own)
      : thread_([this, own] {
          if (own) bed.bind_while_asleep();
          id = current_thread();
          while (!stop_) {
            bed.park();
            awake_mask = mask_of(0);
            ++times;
          }
        }) {
    while (id == 0) yield();
  }
  ~sleeper() {
    stop_ = true;
    bed.unpark();
    thread_.join();
  }
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;
  void wake() {
    const int before = times;
    bed.unpark();
    while (times == before) yield();
  }

  parker bed;
  std::atomic<pid_t> id{0};
  std::atomic<int> times{0};
  processor_list awake_mask;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(parker, leaves_the_affinity_mask_of_a_thread_as_it_was) {
  const processor_list before = mask_of(0);
  for (const bool own : {false, true}) {
    sleeper other(own);
    for (int i = 0; i < 200; ++i) {
      if (i % 2 != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      other.wake();
      EXPECT_EQ(other.awake_mask, before);
      EXPECT_TRUE(own || mask_of(other.id) == before);
    }
  }
}

TEST(parker, keeps_a_mask_that_somebody_else_sets_while_the_thread_sleeps) {
  const processor_list all = mask_of(0);
  for (int i = 0; i < 50; ++i) {
    sleeper other(true);
    while (all.size() > 1 && mask_of(other.id).size() != 1) yield();
    const processor_list chosen{all.front() == mask_of(other.id).front() ? all.back() : all.front()};
    bind_to(other.id, chosen);
    other.wake();
    EXPECT_EQ(other.awake_mask, chosen);
  }
}

/// What a handler unparks, and whether it has.
std::atomic<parker*> wanted{nullptr};
std::atomic<bool> handled{false};

void unpark_wanted(int /*number*/) {
  wanted.load()->unpark();
  handled = true;
}

/// From now on the calling thread gets SIGSYS where it would change an affinity mask.
void trap_affinity_changes() {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog whole{.len = std::size(program), .filter = program};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole);
}

/// Unparks a thread that sleeps on the processor of this one, which gets a signal in the middle of that.
[[noreturn]] void unpark_in_a_handler() {
  alarm(20);
  const processor_list all = mask_of(0);
  if (all.size() == 1) std::_Exit(0);
  sleeper other(true);
  wanted = &other.bed;
  std::signal(SIGSYS, &unpark_wanted);
  processor_list where = mask_of(other.id);
  while (where.size() != 1) where = mask_of(other.id);
  bind_to(0, where);
  trap_affinity_changes();
  // Until it happens: the sleeper may be awake just now, or on another processor.
  while (!handled) other.wake();
  other.wake();
  std::_Exit(0);
}

TEST(parker_DeathTest, is_unparked_by_a_handler_of_a_thread_that_is_unparking_it) {
  EXPECT_EXIT(unpark_in_a_handler(), testing::ExitedWithCode(0), "");
}

TEST(parker, lets_callers_of_run_keep_their_affinity_mask) {
  const processor_list all = mask_of(0);
  scheduler pool({.workers = 3});
  const pid_t caller = current_thread();
  for (int i = 0; i < 20; ++i) {
    // The caller sleeps until the branch that was stolen has ended.
    pool.run([&] {
      std::atomic<bool> stolen{false};
      const auto wait = [&] {
        while (!stolen) yield();
      };
      fork_join(wait, [&] {
        stolen = true;
        const std::int64_t end = now_ns() + 1'000'000;
        while (now_ns() < end) EXPECT_EQ(mask_of(caller), all);
        bind_to(caller, {all.back()});
      });
    });
    EXPECT_EQ(mask_of(0), processor_list{all.back()});
    bind_to(0, all);
  }
}

}  // namespace
}  // namespace filch::platform
