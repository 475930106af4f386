#include "places/mpi/boards.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "places/mpi/launch.hpp"
#include "places/mpi/polling.hpp"
#include "places/mpi/rma_board.hpp"
#include "places/mpi/shared_board.hpp"

namespace filch::detail::places {

namespace {

constexpr const char* board_variable = "FILCH_PLACES_BOARD";

enum class board_kind : int { best, shared, rma, messages, unknown };

board_kind asked_for() {
  const char* value = std::getenv(board_variable);
  const std::string_view name = value != nullptr ? value : "";
  if (name.empty()) return board_kind::best;
  if (name == "shared") return board_kind::shared;
  if (name == "rma") return board_kind::rma;
  if (name == "messages") return board_kind::messages;
  return board_kind::unknown;
}

}  // namespace

std::unique_ptr<mpi_board> make_mpi_board(session& all) {
  // Launchers do not give each host every variable; so place 0's counts.
  board_kind chosen = all.place() == 0 ? asked_for() : board_kind::best;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&chosen, sizeof chosen, MPI_BYTE, 0, all.communicator(), &request);
  wait_for(request);
  // One of the places says it.
  const auto refuse = [&](const std::string& reason) {
    if (all.place() != 0) all.refuse("");
    all.refuse("filch: " + std::string(board_variable) + "='" + std::getenv(board_variable) + "' " + reason);
  };
  if (chosen == board_kind::unknown) refuse("is no load board; use shared, rma or messages, or unset it");
  if (chosen == board_kind::rma) return std::make_unique<rma_board>(all.communicator());
  if (chosen == board_kind::messages) return nullptr;
  std::unique_ptr<mpi_board> board = shared_board::make(all.communicator());
  if (board == nullptr && chosen == board_kind::shared) {
    refuse("needs all places on one host, and in one container, but they are not; use rma or messages, or unset it");
  }
  return board;
}

}  // namespace filch::detail::places
