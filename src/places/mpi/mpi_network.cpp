#include "places/mpi/mpi_network.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "places/message_board.hpp"
#include "places/mpi/polling.hpp"
#include "places/mpi/sharers.hpp"

namespace filch::detail::places {

namespace {

constexpr int tag = 0;
/// Sends that one call looks at.
constexpr std::size_t window = 16;
/// Messages that are received side by side; further ones stay with their senders.
constexpr std::size_t most_arriving = 32;

/// What of a message is not its contents. Travels behind them, so that they need not be moved.
struct envelope {
  message_kind kind;
  std::uint8_t channel;
  std::uint16_t unused = 0;
  std::uint32_t finish;
};

}  // namespace

mpi_network::mpi_network(MPI_Comm communicator, std::unique_ptr<mpi_board> board)
    : communicator_(communicator), mpi_board_(std::move(board)) {
  MPI_Comm_rank(communicator_, &place_);
  MPI_Comm_size(communicator_, &places_);
  sent_.resize(static_cast<std::size_t>(places_));
  sharers_ = places_on_these_processors(communicator_);
  if (mpi_board_ == nullptr) message_board_ = make_message_board(*this);
  board_ = mpi_board_ != nullptr ? mpi_board_.get() : message_board_.get();
}

mpi_network::~mpi_network() = default;

std::vector<std::byte> mpi_network::packed(int to, message&& m) {
  assert(m.contents.size() <= std::numeric_limits<int>::max() - sizeof(envelope));  // see check_length()
  ++sent_[static_cast<std::size_t>(to)];
  static_assert(sizeof(envelope) <= of_network);
  const envelope last{.kind = m.kind, .channel = m.channel, .finish = m.finish};
  message_writer(m).add(last);
  return std::move(m.contents);
}

void mpi_network::unpack(arriving& a, message& into) {
  envelope last;
  const std::size_t contents = a.bytes.size() - sizeof last;
  std::memcpy(&last, a.bytes.data() + contents, sizeof last);
  into.kind = last.kind;
  into.channel = last.channel;
  into.finish = last.finish;
  into.from = a.from;
  into.contents = std::move(a.bytes);
  into.contents.resize(contents);
}

void mpi_network::keep(MPI_Request request, std::vector<std::byte>&& bytes) {
  if (is_complete(request)) return;
  requests_.push_back(request);
  buffers_.push_back(std::move(bytes));
}

void mpi_network::send(int to, message&& m) {
  complete_sends();
  std::vector<std::byte> bytes = packed(to, std::move(m));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, communicator_, &request);
  keep(request, std::move(bytes));
}

receipt mpi_network::send_with_receipt(int to, message&& m) {
  // Nobody asks for the one before any more; but its buffer must stay.
  if (with_receipt_ != MPI_REQUEST_NULL)
    keep(std::exchange(with_receipt_, MPI_REQUEST_NULL), std::move(buffer_with_receipt_));
  complete_sends();
  buffer_with_receipt_ = packed(to, std::move(m));
  // A synchronous send is complete when the receiver has found the message.
  MPI_Issend(buffer_with_receipt_.data(), static_cast<int>(buffer_with_receipt_.size()), MPI_BYTE, to, tag,
             communicator_, &with_receipt_);
  return ++newest_;
}

bool mpi_network::has_arrived([[maybe_unused]] receipt of) {
  assert(of == newest_);
  complete_sends();
  return is_complete(with_receipt_);
}

void mpi_network::complete_sends() {
  if (requests_.empty()) return;
  if (next_ >= requests_.size()) next_ = 0;
  const std::size_t n = std::min(window, requests_.size() - next_);
  std::array<int, window> indices;
  int count = 0;
  MPI_Testsome(static_cast<int>(n), requests_.data() + next_, &count, indices.data(), MPI_STATUSES_IGNORE);
  if (count == MPI_UNDEFINED) count = 0;
  // From the last on, so that what takes a free index is not itself one that is free.
  std::sort(indices.begin(), indices.begin() + count, std::greater<>{});
  for (int i = 0; i < count; ++i) {
    const std::size_t at = next_ + static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]);
    requests_[at] = requests_.back();
    buffers_[at].swap(buffers_.back());
    requests_.pop_back();
    buffers_.pop_back();
  }
  next_ += n - static_cast<std::size_t>(count);
}

bool mpi_network::take_arrived(message& into) {
  for (auto a = arriving_.begin(); a != arriving_.end(); ++a) {
    // A longer message may come later than a shorter one that was sent after it, but is delivered before.
    const bool is_first = std::none_of(arriving_.begin(), a, [&](const arriving& b) { return b.from == a->from; });
    if (!is_first || !is_complete(a->request)) continue;
    unpack(*a, into);
    arriving_.erase(a);
    return true;
  }
  return false;
}

bool mpi_network::receive(message& into) {
  complete_sends();
  if (mpi_board_ != nullptr) mpi_board_->poll();
  while (!take_arrived(into)) {
    if (arriving_.size() == most_arriving) return false;
    int found = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag, communicator_, &found, &handle, &status);
    if (found == 0) return false;
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    // Not MPI_Mrecv, which waits for the rest of a long message, and so for its sender.
    arriving& a = arriving_.emplace_back(MPI_REQUEST_NULL, status.MPI_SOURCE,
                                         std::vector<std::byte>(static_cast<std::size_t>(length)));
    MPI_Imrecv(a.bytes.data(), length, MPI_BYTE, &handle, &a.request);
  }
  ++received_;
  return true;
}

void mpi_network::finish() {
  message m;
  MPI_Request request = MPI_REQUEST_NULL;
  // Others may still look at this place's board.
  MPI_Ibarrier(communicator_, &request);
  poll_until([&] { return is_complete(request); },
             [&] {
               if (!receive(m)) return false;
               board().handle(m);
               return true;
             });
  // So many messages have been sent here, and as many are received: MPI is to have none left when it ends.
  std::int64_t expected = 0;
  MPI_Ireduce_scatter_block(sent_.data(), &expected, 1, MPI_INT64_T, MPI_SUM, communicator_, &request);
  const auto receive_more = [&] { return receive(m); };
  poll_until([&] { return is_complete(request); }, receive_more);
  poll_until([&] { return received_ == expected && requests_.empty() && is_complete(with_receipt_); }, receive_more);
  // Whatever comes from now on is for another network.
  MPI_Ibarrier(communicator_, &request);
  wait_for(request);
}

}  // namespace filch::detail::places
