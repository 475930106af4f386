#include "process_pool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

#include <poll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.hpp"

namespace filch::cli {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// A process that runs a job, and the pipe that its outcome comes through.
struct running_job {
  pid_t process;
  std::size_t index;
  std::size_t received;
};

class pool {
 public:
  pool(std::span<run_outcome> outcomes, std::size_t at_once) : outcomes_(outcomes) {
    running_.reserve(at_once);
    pipes_.reserve(at_once);
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool() {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      close(pipes_[i].fd);
      waitpid(running_[i].process, nullptr, 0);
    }
  }

  std::size_t running() const { return running_.size(); }

  void begin(std::size_t index, const std::function<run_outcome(std::size_t)>& job) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) fail("pipe");
    const pid_t own = getpid();
    const pid_t process = fork();
    if (process < 0) fail("fork");
    if (process == 0) {
      end_with(own);
      close(ends[0]);
      send(ends[1], job(index));
      _exit(0);  // nothing of the parent's is flushed or ended twice
    }
    close(ends[1]);
    running_.push_back({process, index, 0});
    pipes_.push_back({ends[0], POLLIN, 0});
  }

  // Waits for something to arrive, and for jobs that have ended.
  void receive() {
    if (poll(pipes_.data(), pipes_.size(), -1) < 0 && errno != EINTR) fail("poll");
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (pipes_[i].revents != 0 && !receive_from(i)) end(i);
    }
  }

 private:
  static void send(int pipe, const run_outcome& outcome) {
    const auto* const bytes = reinterpret_cast<const char*>(&outcome);
    std::size_t sent = 0;
    while (sent < sizeof outcome) {
      const ssize_t n = write(pipe, bytes + sent, sizeof outcome - sent);
      if (n < 0) _exit(1);
      sent += static_cast<std::size_t>(n);
    }
  }

  // False: there is nothing more to come.
  bool receive_from(std::size_t i) {
    running_job& from = running_[i];
    auto* const bytes = reinterpret_cast<char*>(&outcomes_[from.index]);
    const ssize_t n = read(pipes_[i].fd, bytes + from.received, sizeof(run_outcome) - from.received);
    if (n <= 0) return n < 0 && errno == EINTR;
    from.received += static_cast<std::size_t>(n);
    return true;
  }

  void end(std::size_t i) {
    int status = 0;
    waitpid(running_[i].process, &status, 0);
    if (running_[i].received != sizeof(run_outcome)) {
      run_outcome& outcome = outcomes_[running_[i].index];
      outcome = {};
      if (WIFSIGNALED(status)) {
        std::snprintf(outcome.error.data(), outcome.error.size(), "the simulation was ended by signal %d (%s)",
                      WTERMSIG(status), strsignal(WTERMSIG(status)));
      } else {
        std::snprintf(outcome.error.data(), outcome.error.size(), "the simulation ended with status %d",
                      WEXITSTATUS(status));
      }
    }
    close(pipes_[i].fd);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    pipes_.erase(pipes_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  std::span<run_outcome> outcomes_;
  std::vector<running_job> running_;
  std::vector<pollfd> pipes_;  // of the running jobs, in the same order
};

}  // namespace

void run_in_processes(std::span<run_outcome> outcomes, std::size_t at_once,
                      const std::function<run_outcome(std::size_t)>& job, progress_line& progress) {
  std::fflush(stdout);
  pool jobs(outcomes, at_once);
  std::array<char, 64> text{};
  for (std::size_t next = 0; next < outcomes.size() || jobs.running() > 0;) {
    if (next < outcomes.size() && jobs.running() < at_once) {
      std::snprintf(text.data(), text.size(), "run %zu of %zu", next + 1, outcomes.size());
      progress.show(text.data());
      jobs.begin(next++, job);
    } else {
      jobs.receive();
    }
  }
  progress.clear();
}

}  // namespace filch::cli
