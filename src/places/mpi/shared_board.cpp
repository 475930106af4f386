#include "places/mpi/shared_board.hpp"

#include <new>
#include <utility>

#include "places/mpi/polling.hpp"

namespace filch::detail::places {

std::unique_ptr<mpi_board> shared_board::make(MPI_Comm communicator) {
  int place = 0;
  int places = 0;
  MPI_Comm_rank(communicator, &place);
  MPI_Comm_size(communicator, &places);
  const std::size_t bytes = sizeof(cell) * static_cast<std::size_t>(places);
  std::unique_ptr<platform::shared_segment> memory;
  platform::shared_segment::key key{};
  if (place == 0) {
    memory = std::make_unique<platform::shared_segment>(bytes);
    key = memory->found_by();
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&key, sizeof key, MPI_BYTE, 0, communicator, &request);
  wait_for(request);
  if (place != 0) memory = std::make_unique<platform::shared_segment>(key, bytes);

  // Nobody looks before all have written.
  std::unique_ptr<mpi_board> board;
  if (memory->data() != nullptr) board.reset(new shared_board(std::move(memory), place, places));
  const int is_here = board != nullptr ? 1 : 0;
  int are_all_here = 0;
  MPI_Iallreduce(&is_here, &are_all_here, 1, MPI_INT, MPI_MIN, communicator, &request);
  wait_for(request);
  return are_all_here != 0 ? std::move(board) : nullptr;
}

shared_board::shared_board(std::unique_ptr<platform::shared_segment> memory, int place, int places)
    : memory_(std::move(memory)),
      place_(place),
      cells_(static_cast<cell*>(memory_->data()), static_cast<std::size_t>(places)) {
  new (&own()) cell;
}

// As memory_board in places/memory_network.cpp, where the tags are explained and explored.
void shared_board::publish(int load) { own().load.store(load, std::memory_order_relaxed); }                  // [MN1]
std::optional<int> shared_board::read(int place) { return at(place).load.load(std::memory_order_relaxed); }  // [MN1]
std::optional<bool> shared_board::try_lock(int place) {
  return at(place).lock.exchange(1, std::memory_order_acquire) == 0;  // [MN2]
}
void shared_board::set_thief(int place) { at(place).thief.store(place_, std::memory_order_relaxed); }  // [MN4]
void shared_board::unlock(int place) { at(place).lock.store(0, std::memory_order_release); }           // [MN3]
int shared_board::thief() { return own().thief.load(std::memory_order_relaxed); }                      // [MN4]
void shared_board::clear_thief() { own().thief.store(nobody, std::memory_order_relaxed); }             // [MN4]

}  // namespace filch::detail::places
