// Master and workers on MPI, as programs have them that do without work stealing. Rank 0 is the master and runs no task: it
// has the tasks that nobody has taken. A worker keeps the tasks that come off its own, and runs the newest first; it asks
// the master when it has none. Where the master has none either, it wants some of every worker that has not asked, and
// each sends the older half of its tasks as soon as it has two.
//
// The end: messages of a worker arrive in the order in which they were sent, so when every worker has asked and the master
// has no task, there is none on its way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <mpi.h>

#include "task_farm.hpp"
#include "task_list.hpp"

namespace filch::bench {

/// All processes of MPI_COMM_WORLD, of which there are at least two, have one. Between MPI_Init and MPI_Finalize.
class mpi_farm final : public task_farm {
 public:
  mpi_farm();
  ~mpi_farm() override;
  mpi_farm(const mpi_farm&) = delete;
  mpi_farm& operator=(const mpi_farm&) = delete;

  void run(task_bytes first, const body& run) override;
  void add(task_bytes task) override;
  void combine(std::span<std::uint64_t> sums, std::span<double> maxima) override;

 private:
  /// Its kind is its tag.
  struct message {
    int from;
    int kind;
    task_bytes tasks;  // in received_
  };

  void be_master(task_bytes first);
  void be_worker(const body& run);
  void look_up();
  void give_half();
  message receive(int from);
  void send(int to, int kind, task_bytes tasks = {});

  MPI_Comm all_ = MPI_COMM_NULL;
  int rank_ = 0;
  int processes_ = 0;
  std::vector<std::byte> received_;
  task_list tasks_;
  int added_ = 0;           // worker: tasks, since it looked for a message
  bool is_wanted_ = false;  // worker: the master waits for tasks
};

}  // namespace filch::bench
