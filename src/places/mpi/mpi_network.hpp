// Places connected by MPI. Nothing blocks: what is sent stays in a buffer of this object until MPI has taken it, and what
// arrives is received in the background.
//
// Thread safety: see network.hpp; so MPI_THREAD_SERIALIZED suffices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <mpi.h>

#include "places/mpi/boards.hpp"
#include "places/network.hpp"

namespace filch::detail::places {

class mpi_network final : public network {
 public:
  /// The communicator is this object's until its end. Collective. Without a board it has one that is made of messages.
  mpi_network(MPI_Comm communicator, std::unique_ptr<mpi_board> board);
  ~mpi_network() override;

  [[nodiscard]] int place() const noexcept override { return place_; }
  [[nodiscard]] int places() const noexcept override { return places_; }
  [[nodiscard]] int sharers() const noexcept override { return sharers_; }
  void send(int to, message&& m) override;
  [[nodiscard]] receipt send_with_receipt(int to, message&& m) override;
  [[nodiscard]] bool has_arrived(receipt of) override;
  [[nodiscard]] bool receive(message& into) override;
  [[nodiscard]] load_board& board() noexcept override { return *board_; }

  /// Waits until all places are here, and throws away what was sent to this one and not received. Nothing is sent
  /// afterwards.
  void finish();

 private:
  struct arriving {
    MPI_Request request;
    int from;
    std::vector<std::byte> bytes;
  };

  std::vector<std::byte> packed(int to, message&& m);
  static void unpack(arriving& a, message& into);
  void keep(MPI_Request request, std::vector<std::byte>&& bytes);
  void complete_sends();
  bool take_arrived(message& into);

  MPI_Comm communicator_;
  int place_ = 0;
  int places_ = 1;
  int sharers_ = 1;

  // What MPI has not taken yet: requests and, at the same index, their buffers.
  std::vector<MPI_Request> requests_;
  std::vector<std::vector<std::byte>> buffers_;
  std::size_t next_ = 0;  ///< to be looked at

  MPI_Request with_receipt_ = MPI_REQUEST_NULL;
  std::vector<std::byte> buffer_with_receipt_;
  receipt newest_ = 0;

  std::deque<arriving> arriving_;  ///< in the order in which MPI has matched them

  std::vector<std::int64_t> sent_;  ///< to each place
  std::int64_t received_ = 0;

  std::unique_ptr<mpi_board> mpi_board_;  ///< null: it is made of messages
  std::unique_ptr<load_board> message_board_;
  load_board* board_;
};

}  // namespace filch::detail::places
