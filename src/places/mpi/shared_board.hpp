// A load board in memory that the places of one host share: looking at another place needs neither it nor MPI.
//
// The memory is not a window of MPI: making one blocks inside of MPI, which takes seconds where there are more places than
// processors (MPICH 4.0, 16 places on 2: 3 s to find out who is on this host, and 2.5 s for the window).
//
// Thread safety: see load_board.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <mpi.h>

#include <filch/platform/memory.hpp>

#include "places/mpi/boards.hpp"
#include "platform/shared_segment.hpp"

namespace filch::detail::places {

class shared_board final : public mpi_board {
 public:
  /// Collective. Null at all places if they do not share a host.
  static std::unique_ptr<mpi_board> make(MPI_Comm communicator);

  void publish(int load) override;
  std::optional<int> read(int place) override;
  std::optional<bool> try_lock(int place) override;
  void set_thief(int place) override;
  void unlock(int place) override;
  int thief() override;
  void clear_thief() override;

 private:
  /// Processes share it, so it must have no lock inside. Many read the load, few take the lock.
  struct alignas(64) cell {
    platform::atomic<std::int32_t> load{0};
    alignas(64) platform::atomic<std::uint32_t> lock{0};
    platform::atomic<std::int32_t> thief{nobody};
  };
  static_assert(platform::atomic<std::int32_t>::is_always_lock_free &&
                platform::atomic<std::uint32_t>::is_always_lock_free);

  shared_board(std::unique_ptr<platform::shared_segment> memory, int place, int places);
  [[nodiscard]] cell& at(int place) const noexcept { return cells_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] cell& own() const noexcept { return at(place_); }

  std::unique_ptr<platform::shared_segment> memory_;
  int place_;
  std::span<cell> cells_;
};

}  // namespace filch::detail::places
