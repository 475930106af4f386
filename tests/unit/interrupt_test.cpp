// The signal that interrupts are made of: whose handler is called for which.
#include "platform/interrupt.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/filch.hpp>

namespace filch::platform {
namespace {

using namespace std::chrono_literals;

std::atomic<int> ours{0};
std::atomic<int> theirs{0};

void count_ours() noexcept {
  ++ours;
  errno = ERANGE;
}
void count_theirs(int number) {
  if (number == SIGURG) ++theirs;
}
void count_theirs_with_info(int number, siginfo_t* info, void* context) {
  if (number == SIGURG && info->si_pid == getpid() && context != nullptr) ++theirs;
}

/// In a process of its own, because handlers stay. GoogleTest runs what is called so first, when there are no other threads
/// and no handlers yet, so a copy of the process will do. It need not start the program again: emulators cannot, mostly.
[[noreturn]] void exit_if(bool right) { std::_Exit(right ? 0 : 1); }

TEST(interrupt_DeathTest, calls_the_handler_on_the_thread_meant_and_keeps_errno) {
  EXPECT_EXIT(
      {
        handle_interrupts(&count_ours);
        errno = EDOM;
        const bool sent = platform::interrupt(current_thread());
        exit_if(sent && ours == 1 && errno == EDOM);
      },
      testing::ExitedWithCode(0), "");
}

TEST(interrupt_DeathTest, leaves_signals_from_elsewhere_to_the_handler_before) {
  EXPECT_EXIT(
      {
        std::signal(SIGURG, &count_theirs);
        handle_interrupts(&count_ours);
        std::raise(SIGURG);
        platform::interrupt(current_thread());
        exit_if(theirs == 1 && ours == 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        struct sigaction before{};
        before.sa_sigaction = &count_theirs_with_info;
        before.sa_flags = SA_SIGINFO;
        sigaction(SIGURG, &before, nullptr);
        handle_interrupts(&count_ours);
        kill(getpid(), SIGURG);
        platform::interrupt(current_thread());
        exit_if(theirs == 1 && ours == 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(interrupt_DeathTest, is_handled_only_where_it_was_asked_for) {
  const auto is_handled = [] {
    struct sigaction now{};
    sigaction(SIGURG, nullptr, &now);
    return now.sa_handler != SIG_DFL;
  };
  EXPECT_EXIT(
      {
        bool handled = false;
        for (const combination& each : combinations()) {
          scheduler pool({.workers = 3, .policy = std::string(each.policy)});
          pool.run([] { fork_join([] { std::this_thread::sleep_for(2ms); }, [] {}); });
          handled = handled || is_handled() || pool.stats().interrupts != 0;
        }
        exit_if(!handled);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        const scheduler pool({.workers = 2, .interrupt_after_ns = 100'000});
        exit_if(is_handled());
      },
      testing::ExitedWithCode(0), "");
}

class blocking_calls : public testing::TestWithParam<std::string_view> {};

/// A file descriptor that is closed at last.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  ~descriptor() { close(number_); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

/// Each waits for 1 ms, and nothing comes.
void wait_in_vain() {
  timespec left{.tv_sec = 0, .tv_nsec = 1'000'000};
  EXPECT_EQ(nanosleep(&left, &left), 0);
  EXPECT_EQ(poll(nullptr, 0, 1), 0);
  timeval soon{.tv_sec = 0, .tv_usec = 1000};
  EXPECT_EQ(select(0, nullptr, nullptr, nullptr, &soon), 0);
  const descriptor events(epoll_create1(0));
  epoll_event event{};
  EXPECT_EQ(epoll_wait(events.get(), &event, 1, 1), 0);
  sem_t never;
  sem_init(&never, 0, 0);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 1'000'000;
  if (until.tv_nsec >= 1'000'000'000) ++until.tv_sec, until.tv_nsec -= 1'000'000'000;
  EXPECT_EQ(sem_timedwait(&never, &until), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  sem_destroy(&never);
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const descriptor here(pair[0]);
  const descriptor there(pair[1]);
  const timeval limit{.tv_sec = 0, .tv_usec = 1000};
  setsockopt(here.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  EXPECT_EQ(recv(here.get(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
}

/// A transfer of a megabyte whose other end is slow.
void transfer_all() {
  constexpr std::size_t size = 1 << 20;
  constexpr std::size_t part = size / 4;
  std::vector<char> data(size);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    const descriptor from(ends[0]);
    const descriptor into(ends[1]);
    std::jthread reader([&] {
      std::vector<char> taken(part);
      for (std::size_t left = size; left != 0;) {
        std::this_thread::sleep_for(500us);
        const ssize_t got = read(from.get(), taken.data(), std::min(part, left));
        if (got <= 0) break;
        left -= static_cast<std::size_t>(got);
      }
    });
    const ssize_t written = write(into.get(), data.data(), size);
    EXPECT_EQ(written, static_cast<ssize_t>(size));
    // Were it less, the reader would wait for the rest.
    for (std::size_t done = static_cast<std::size_t>(std::max<ssize_t>(written, 0)); done != size;) {
      const ssize_t more = write(into.get(), data.data(), size - done);
      if (more > 0) done += static_cast<std::size_t>(more);
    }
  }
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const descriptor here(ends[0]);
  const descriptor there(ends[1]);
  std::jthread sender([&] {
    for (int i = 0; i < 4; ++i) {
      std::this_thread::sleep_for(500us);
      if (send(there.get(), data.data(), part, 0) != static_cast<ssize_t>(part)) break;
    }
    shutdown(there.get(), SHUT_WR);
  });
  std::vector<char> received(size);  // the other one is read still
  EXPECT_EQ(recv(here.get(), received.data(), size, MSG_WAITALL), static_cast<ssize_t>(size));
  while (recv(here.get(), received.data(), size, 0) > 0) {
  }
}

/// The other workers are idle, and wait for what lies below the call.
TEST_P(blocking_calls, in_tasks_are_not_disturbed) {
  scheduler pool({.workers = 3, .policy = std::string(GetParam())});
  pool.run([] {
    for (int i = 0; i < 10; ++i) {
      fork_join([] { fork_join(wait_in_vain, [] {}); }, [] {});
      fork_join([] { fork_join(transfer_all, [] {}); }, [] {});
    }
  });
}

std::vector<std::string_view> all_policies() {
  std::vector<std::string_view> names;
  for (const combination& each : combinations()) names.push_back(each.policy);
  return names;
}

INSTANTIATE_TEST_SUITE_P(all, blocking_calls, testing::ValuesIn(all_policies()),
                         [](const auto& each) { return std::string(each.param); });

TEST(interrupt, says_when_the_thread_is_gone) {
  EXPECT_FALSE(platform::interrupt(no_thread));
  thread_id ended = no_thread;
  std::thread([&] { ended = current_thread(); }).join();
  // The system tells who joins a thread before it takes the thread's number back.
  while (platform::interrupt(ended)) std::this_thread::yield();
}

TEST(interrupt_DeathTest, reaches_the_thread_that_goes_on_in_a_child_process) {
  EXPECT_EXIT(
      {
        handle_interrupts(&count_ours);
        platform::interrupt(current_thread());
        if (fork() == 0) exit_if(platform::interrupt(current_thread()) && ours == 2);
        int status = 1;
        wait(&status);
        exit_if(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(interrupt_DeathTest, reaches_a_thread_that_accepts_it_though_its_creator_does_not) {
  EXPECT_EXIT(
      {
        handle_interrupts(&count_ours);
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        std::thread([] {
          accept_interrupts();
          platform::interrupt(current_thread());
        }).join();
        exit_if(ours == 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace filch::platform
