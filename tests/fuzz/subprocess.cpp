#include "subprocess.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace filch::fuzz {
namespace {

/// What child and parent both see.
struct blackboard {
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> programs{0};
  std::atomic<bool> told{false};
  char text[512] = {};
};

blackboard& shared_board() {
  static blackboard* const board = [] {
    void* const memory = mmap(nullptr, sizeof(blackboard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "filch_fuzz: mmap");
    return new (memory) blackboard;
  }();
  return *board;
}

constexpr int failed_status = 3;

}  // namespace

void end_child(const std::string& what) {
  blackboard& board = shared_board();
  if (!board.told.exchange(true)) std::strncpy(board.text, what.c_str(), sizeof(board.text) - 1);
  _exit(failed_status);
}

// relaxed, all of them: they order nothing, neither here nor in the program that is run.
void progress::begin_program() {
  shared_board().programs.fetch_add(1, std::memory_order_relaxed);
  step();
}
void progress::step() { shared_board().steps.fetch_add(1, std::memory_order_relaxed); }

verdict in_child(const std::function<void(progress&)>& body, double patience_s, bool quiet) {
  blackboard& board = *new (&shared_board()) blackboard;
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "filch_fuzz: fork");
  if (child == 0) {
    if (quiet) {
      const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
      if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
      }
    }
    progress so_far;
    body(so_far);
    _exit(0);  // the default scheduler is never destroyed
  }
  using clock = std::chrono::steady_clock;
  std::uint64_t seen = 0;
  auto last = clock::now();
  int status = 0;
  verdict v;
  for (std::int64_t nap_ns = 100'000; waitpid(child, &status, WNOHANG) == 0;
       nap_ns = std::min<std::int64_t>(2 * nap_ns, 5'000'000)) {
    const timespec nap{0, nap_ns};
    nanosleep(&nap, nullptr);
    const std::uint64_t now = board.steps.load(std::memory_order_relaxed);
    if (now != seen) {
      seen = now;
      last = clock::now();
    } else if (std::chrono::duration<double>(clock::now() - last).count() > patience_s) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      v = {true, "hangs"};
      break;
    }
  }
  if (!v.failed && WIFSIGNALED(status)) v = {true, std::string("crashed: ") + strsignal(WTERMSIG(status))};
  if (!v.failed && WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    v = {true, board.told ? board.text : "crashed: exit status " + std::to_string(WEXITSTATUS(status))};
  }
  v.programs = board.programs.load(std::memory_order_relaxed);
  return v;
}

}  // namespace filch::fuzz
