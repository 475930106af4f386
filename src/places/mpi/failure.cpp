#include "places/mpi/failure.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <mpi.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "platform/exit_handler.hpp"

namespace filch::detail::places {

namespace {

constexpr int nobody_watches = -1;

// The place that is watched. Relaxed: a program that exits while another thread begins or ends a run may be seen either
// way.
std::atomic<int> watched{nobody_watches};
// And the process that it is: a child of it inherits the handler.
std::atomic<pid_t> watched_process{0};

void exited(int status) {
  if (watched_process.load(std::memory_order_relaxed) != getpid()) return;  // see above
  const int place = watched.exchange(nobody_watches, std::memory_order_relaxed);
  if (place == nobody_watches) return;
  abort_job(place, " ended before the others, by exit(" + std::to_string(status) + "); return from main instead",
            status);
}

}  // namespace

void say(std::string line) noexcept {
  line += '\n';
  // Nothing is left to be done if it fails.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  // Launchers throw away what they have not read when they hear that the job is to end.
  int unread = 0;
  for (int i = 0; i < 500 && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void abort_job(int place, const std::string& reason, int status) {
  // MPI may exit by exit().
  watched.store(nobody_watches, std::memory_order_relaxed);
  say("filch: place " + std::to_string(place) + reason);
  // Another thread may be inside of MPI, which the thread level does not allow; there is no later time to do it right.
  MPI_Abort(MPI_COMM_WORLD, status == 0 ? 1 : status);
  _exit(status == 0 ? 1 : status);
}

exit_watch::exit_watch(int place) {
  static const bool is_called = platform::call_at_exit(exited);
  if (!is_called) say("filch: no memory for an exit handler; a place that exits early may leave the others waiting");
  watched_process.store(getpid(), std::memory_order_relaxed);  // see above
  watched.store(place, std::memory_order_relaxed);
}

exit_watch::~exit_watch() { watched.store(nobody_watches, std::memory_order_relaxed); }  // see above

}  // namespace filch::detail::places
