// The signal that interrupts are made of: whose handler is called for which.
#include "platform/interrupt.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/scheduler.hpp>

namespace filch::platform {
namespace {

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

/// In a process of its own, because handlers stay.
[[noreturn]] void exit_if(bool right) { std::_Exit(right ? 0 : 1); }

class interrupt : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(interrupt, calls_the_handler_on_the_thread_meant_and_keeps_errno) {
  EXPECT_EXIT(
      {
        handle_interrupts(&count_ours);
        errno = EDOM;
        const bool sent = platform::interrupt(current_thread());
        exit_if(sent && ours == 1 && errno == EDOM);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(interrupt, leaves_signals_from_elsewhere_to_the_handler_before) {
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

TEST_F(interrupt, is_not_handled_where_they_are_turned_off) {
  EXPECT_EXIT(
      {
        const scheduler pool({.workers = 2, .interrupt_after_ns = 0});
        struct sigaction now{};
        sigaction(SIGURG, nullptr, &now);
        exit_if(now.sa_handler == SIG_DFL);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(interrupt, says_when_the_thread_is_gone) {
  EXPECT_FALSE(platform::interrupt(no_thread));
  thread_id ended = no_thread;
  std::thread([&] { ended = current_thread(); }).join();
  EXPECT_FALSE(platform::interrupt(ended));
}

TEST_F(interrupt, reaches_the_thread_that_goes_on_in_a_child_process) {
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

TEST_F(interrupt, reaches_a_thread_that_accepts_it_though_its_creator_does_not) {
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
