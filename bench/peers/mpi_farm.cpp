#include "mpi_farm.hpp"

#include <algorithm>

namespace filch::bench {
namespace {

enum kind : int {
  ask = 1,  // worker to master: it has no task
  tasks,    // either way
  want,     // master to worker: others have asked
  end,      // master to worker: there are no tasks any more
};

// A look for messages costs about as much as it takes to add this many tasks of uts_places.
constexpr int tasks_between_looks = 32;

// Of one message; not a whole pool at once.
constexpr std::size_t most_given = 64;

int length_of(std::span<const std::byte> bytes) { return static_cast<int>(bytes.size()); }

}  // namespace

mpi_farm::mpi_farm() {
  MPI_Comm_dup(MPI_COMM_WORLD, &all_);
  MPI_Comm_rank(all_, &rank_);
  MPI_Comm_size(all_, &processes_);
}

mpi_farm::~mpi_farm() { MPI_Comm_free(&all_); }

void mpi_farm::run(task_bytes first, const body& run) {
  tasks_.begin(first.size());
  rank_ == 0 ? be_master(first) : be_worker(run);
}

void mpi_farm::be_master(task_bytes first) {
  tasks_.add(first);
  std::deque<int> waiting;
  std::vector<bool> is_asked(static_cast<std::size_t>(processes_), false);  // for tasks, and has not answered
  const auto others = static_cast<std::size_t>(processes_ - 1);
  while (waiting.size() < others || !tasks_.empty()) {
    const message got = receive(MPI_ANY_SOURCE);
    is_asked[static_cast<std::size_t>(got.from)] = false;
    got.kind == ask ? waiting.push_back(got.from) : tasks_.add(got.tasks);
    while (!waiting.empty() && !tasks_.empty()) {
      send(waiting.front(), tasks, tasks_.take_oldest(1));
      waiting.pop_front();
    }
    if (waiting.empty()) continue;
    for (int each = 1; each < processes_; ++each) {
      if (is_asked[static_cast<std::size_t>(each)] || std::ranges::find(waiting, each) != waiting.end()) continue;
      is_asked[static_cast<std::size_t>(each)] = true;
      send(each, want);
    }
  }
  for (const int each : waiting) send(each, end);
}

void mpi_farm::be_worker(const body& run) {
  added_ = 0;
  is_wanted_ = false;
  for (;;) {
    send(0, ask);
    is_wanted_ = false;  // by asking it has answered
    message got = receive(0);
    // Sent before the master knew that this worker has none.
    while (got.kind == want) got = receive(0);
    if (got.kind == end) return;
    tasks_.add(got.tasks);
    while (!tasks_.empty()) {
      run(tasks_.take_newest());
      look_up();
    }
  }
}

void mpi_farm::add(task_bytes task) {
  tasks_.add(task);
  if (++added_ >= tasks_between_looks) look_up();
}

// Of a worker that has something to do.
void mpi_farm::look_up() {
  added_ = 0;
  int is_there = 0;
  MPI_Iprobe(0, MPI_ANY_TAG, all_, &is_there, MPI_STATUS_IGNORE);
  if (is_there != 0) {
    receive(0);
    is_wanted_ = true;  // the master says nothing else to a worker that has not asked
  }
  if (is_wanted_ && tasks_.tasks() >= 2) give_half();
}

void mpi_farm::give_half() {
  send(0, tasks, tasks_.take_oldest(std::min(tasks_.tasks() / 2, most_given)));
  is_wanted_ = false;
}

mpi_farm::message mpi_farm::receive(int from) {
  MPI_Status status;
  MPI_Probe(from, MPI_ANY_TAG, all_, &status);
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  received_.resize(static_cast<std::size_t>(length));
  MPI_Recv(received_.data(), length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, all_, &status);
  return {status.MPI_SOURCE, status.MPI_TAG, received_};
}

void mpi_farm::send(int to, int kind, task_bytes tasks) {
  MPI_Send(tasks.data(), length_of(tasks), MPI_BYTE, to, kind, all_);
}

void mpi_farm::combine(std::span<std::uint64_t> sums, std::span<double> maxima) {
  MPI_Barrier(all_);  // reductions of nothing need not wait
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM, all_);
  MPI_Allreduce(MPI_IN_PLACE, maxima.data(), static_cast<int>(maxima.size()), MPI_DOUBLE, MPI_MAX, all_);
}

}  // namespace filch::bench
