// Which kind of load board places have: shared, memory that the places of one host share; rma, one-sided operations of MPI;
// messages, which need neither (places/message_board.hpp).
#pragma once

#include <memory>

#include "places/load_board.hpp"

namespace filch::detail::places {

class session;

/// A board that MPI has a part in.
class mpi_board : public load_board {
 public:
  /// Goes on with what takes time.
  virtual void poll() {}
};

/// As FILCH_PLACES_BOARD says at place 0; without it of shared memory where all places are on one host, of messages
/// elsewhere. Collective. Null for messages. Ends the program with status 2 and one line if the variable asks for what
/// there is not.
[[nodiscard]] std::unique_ptr<mpi_board> make_mpi_board(session& all);

}  // namespace filch::detail::places
