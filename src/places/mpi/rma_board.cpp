#include "places/mpi/rma_board.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "places/mpi/polling.hpp"

namespace filch::detail::places {

namespace {

template <class Effect>
MPI_Op of(Effect what) {
  if (what == Effect::none) return MPI_NO_OP;
  return what == Effect::adds ? MPI_SUM : MPI_REPLACE;
}

}  // namespace

rma_board::rma_board(MPI_Comm communicator) {
  MPI_Comm_rank(communicator, &place_);
  std::int32_t* memory = nullptr;
  MPI_Win_allocate(words * MPI_Aint{sizeof(std::int32_t)}, sizeof(std::int32_t), MPI_INFO_NULL, communicator,
                   static_cast<void*>(&memory), &window_);
  std::fill_n(memory, static_cast<std::size_t>(words), 0);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  MPI_Win_sync(window_);
  // Nobody looks before all have written.
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &request);
  wait_for(request);
}

rma_board::~rma_board() {
  // What has been begun uses memory of this object.
  for (lane* l : {&own_, &others_})
    if (l->request != MPI_REQUEST_NULL) wait_for(l->request);
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

std::optional<rma_board::operation> rma_board::step(lane& in) {
  if (in.request == MPI_REQUEST_NULL) {
    if (in.waiting.empty()) return std::nullopt;
    const operation& next = in.waiting.front();
    in.written = next.value;
    MPI_Rget_accumulate(&in.written, 1, MPI_INT32_T, &in.fetched, 1, MPI_INT32_T, next.place, next.at, 1, MPI_INT32_T,
                        of(next.what), window_, &in.request);
  }
  if (!is_complete(in.request)) return std::nullopt;
  const operation done = in.waiting.front();
  in.waiting.pop_front();
  return done;
}

void rma_board::poll_own() {
  while (const auto done = step(own_)) {
    if (done->number == 0 || done->number != look_) continue;
    thief_ = own_.fetched == 0 ? nobody : own_.fetched - 1;
    look_ = 0;
  }
}

void rma_board::poll_others() {
  while (const auto done = step(others_)) {
    if (done->number == 0) continue;
    if (asked_ && asked_->number == done->number) {
      answer_ = others_.fetched;
    } else if (done->at == lock_word && others_.fetched == 0) {
      // Nobody wants the lock any more.
      unlock(done->place);
    }
  }
}

void rma_board::poll() {
  poll_own();
  poll_others();
}

std::optional<std::int32_t> rma_board::ask(operation what) {
  const bool is_asked = asked_ && asked_->at == what.at && asked_->place == what.place;
  if (!is_asked) {
    // An answer that has come and was not fetched is forgotten as one that is still to come: the lock must not stay taken.
    if (asked_ && asked_->at == lock_word && answer_ == 0) unlock(asked_->place);
    what.number = ++newest_;
    asked_ = what;
    answer_.reset();
    others_.waiting.push_back(what);
  }
  poll_others();
  if (answer_) asked_.reset();
  return std::exchange(answer_, std::nullopt);
}

void rma_board::publish(int load) {
  auto& waiting = own_.waiting;
  const std::ptrdiff_t begun = own_.request != MPI_REQUEST_NULL ? 1 : 0;
  const auto older =
      std::find_if(waiting.begin() + begun, waiting.end(), [](const operation& o) { return o.at == load_word; });
  if (older != waiting.end()) {
    older->value = load;
  } else {
    waiting.push_back({place_, load_word, effect::replaces, load, 0});
  }
  poll_own();
}

std::optional<int> rma_board::read(int place) { return ask({place, load_word, effect::none, 0, 0}); }

std::optional<bool> rma_board::try_lock(int place) {
  const std::optional<std::int32_t> before = ask({place, lock_word, effect::replaces, 1, 0});
  return before ? std::optional<bool>(*before == 0) : std::nullopt;
}

void rma_board::set_thief(int place) {
  others_.waiting.push_back({place, thief_word, effect::adds, place_ + 1, 0});
  poll_others();
}

void rma_board::unlock(int place) { others_.waiting.push_back({place, lock_word, effect::replaces, 0, 0}); }

int rma_board::thief() {
  if (thief_ == nobody && look_ == 0) {
    look_ = ++newest_;
    own_.waiting.push_back({place_, thief_word, effect::none, 0, look_});
  }
  poll_own();
  return thief_;
}

void rma_board::clear_thief() {
  if (thief_ == nobody) return;
  own_.waiting.push_back({place_, thief_word, effect::adds, -(thief_ + 1), 0});
  thief_ = nobody;
  poll_own();
}

}  // namespace filch::detail::places
