// A load board by one-sided operations of MPI. They may take as long as the other place stays outside of MPI; so each is
// begun, and asked for later. All are atomic operations of MPI, at the own place too: MPI's and the processor's need not
// know of each other. And all fetch, also those that write, since only a fetched value says that it has happened.
//
// Operations are done in two lanes, one on the own words, one on those of others; one at a time in each, which keeps the
// order of set_thief() and unlock().
//
// Thread safety: see load_board.hpp.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include <mpi.h>

#include "places/mpi/boards.hpp"

namespace filch::detail::places {

class rma_board final : public mpi_board {
 public:
  /// Collective, as the destructor is.
  explicit rma_board(MPI_Comm communicator);
  ~rma_board() override;

  void publish(int load) override;
  std::optional<int> read(int place) override;
  std::optional<bool> try_lock(int place) override;
  void set_thief(int place) override;
  void unlock(int place) override;
  int thief() override;
  void clear_thief() override;
  void poll() override;

 private:
  /// Index of a place's words, in units of their size; the load is on a cache line of its own.
  enum word : MPI_Aint { load_word = 0, lock_word = 16, thief_word = 17, words = 32 };

  enum class effect : std::uint8_t { none, replaces, adds };
  struct operation {
    int place;
    word at;
    effect what;
    std::int32_t value;
    std::uint32_t number;  ///< 0: nobody asks for the result
  };
  struct lane {
    std::deque<operation> waiting;  ///< the first has begun if there is a request
    MPI_Request request = MPI_REQUEST_NULL;
    std::int32_t written = 0;
    std::int32_t fetched = 0;
  };
  /// Goes on in a lane. @return what was done, now complete, with the value from before in `fetched`.
  std::optional<operation> step(lane& in);
  void poll_own();
  void poll_others();
  std::optional<std::int32_t> ask(operation what);

  MPI_Win window_ = MPI_WIN_NULL;
  int place_ = 0;
  lane own_;
  lane others_;
  std::uint32_t newest_ = 0;        ///< number given to an operation
  std::optional<operation> asked_;  ///< what has been asked of another place
  std::optional<std::int32_t> answer_;
  // The thief word is 0, or one more than the thief's place. It is added to: the next thief may come before this place's
  // lane has cleared the one before, and both must count.
  int thief_ = nobody;      ///< as last seen
  std::uint32_t look_ = 0;  ///< number of the look for a thief that counts; 0: there is none
};

}  // namespace filch::detail::places
