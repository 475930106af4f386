#include "platform/interrupt.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace filch::platform {
namespace {

/// Network software alone uses it, and few of that; ignored where nobody handles it, so that one which comes late does
/// no harm.
constexpr int signal_number = SIGURG;

/// What is called, and at the same time the mark of our own signals.
std::atomic<void (*)() noexcept> interrupted{nullptr};
struct sigaction before{};

thread_local thread_id own_id = no_thread;

void pass_on(int number, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

void handle(int number, siginfo_t* info, void* context) {
  const int error = errno;
  if (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &interrupted) {
    interrupted.load(std::memory_order_relaxed)();
  } else {
    pass_on(number, info, context);
  }
  errno = error;
}

}  // namespace

thread_id current_thread() noexcept {
  if (own_id == no_thread) own_id = static_cast<thread_id>(syscall(SYS_gettid));
  return own_id;
}

void handle_interrupts(void (*handler)() noexcept) {
  static std::once_flag once;
  interrupted.store(handler, std::memory_order_relaxed);
  std::call_once(once, [] {
    struct sigaction ours{};
    ours.sa_sigaction = &handle;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    // After fork() the thread that called it goes on under another number.
    if (const int error = pthread_atfork(nullptr, nullptr, [] { own_id = no_thread; }); error != 0) {
      throw std::system_error(error, std::generic_category(), "filch: cannot watch for fork()");
    }
    // First what is passed on to, then who passes on.
    if (sigaction(signal_number, nullptr, &before) != 0 || sigaction(signal_number, &ours, nullptr) != 0) {
      throw std::system_error(errno, std::generic_category(), "filch: cannot handle SIGURG");
    }
  });
}

void accept_interrupts() noexcept {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

bool interrupt(thread_id whom) noexcept {
  if (whom == no_thread) return false;
  siginfo_t info{};
  info.si_signo = signal_number;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = &interrupted;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), whom, signal_number, &info) == 0;
}

}  // namespace filch::platform
