// What policies have in common whose tasks stay private until their owner hands them to somebody (Acar, Charguéraud and
// Rainey 2013): `receiver` and `sender`.
//
// Tasks are handed over oldest first, so those below split are all somebody else's, and split is raised by handing over
// and lowered by joins alone. An open loop that is older than all private tasks gives half of what it has left, as a
// piece in its owner's pool, into which the worker that is meant is told to look. (Anybody may take a piece; so it is
// an offer that one worker is told of, while a task goes to that worker and nobody else.)
//
// Deviation: the paper's workers never wait at a join. Ours do, and are handed only what was made inside of the task
// that they wait for; who hands over sees to that, since he knows his own activations (docs/protocols/cells.md).
#pragma once

#include <cstdint>

#include "deque/slot_range.hpp"
#include "policy/stealing_policy.hpp"

namespace filch::detail {

class private_policy : public stealing_policy {
 public:
  using stealing_policy::stealing_policy;

  [[nodiscard]] bool reclaim(worker& w, slot& s) noexcept override;
  void rejoin(worker& w, slot& s) noexcept final;
  [[nodiscard]] bool can_be_asked() const noexcept final { return true; }

 protected:
  /// As background tasks: there is nobody who has asked for them, and the worker will not answer.
  void offer_tasks(worker& w) noexcept override;
  [[nodiscard]] bool adopts_from_anybody() const noexcept final { return false; }

  struct cells : offer {
    /// [PV1] relaxed: a hint, which slots to look at; what they hold is ordered by their states.
    platform::atomic<std::uint32_t> handed_end{0};
    void activation_ended() noexcept override {}  // what an activation made is handed over by its worker alone
  };

  /// What a worker could hand over next: so many tasks, of which the oldest is the first to go; or a part of a loop, if
  /// that is older. Or nothing.
  struct surplus {
    std::uint32_t tasks = 0;
    work_share* loop = nullptr;
    explicit operator bool() const noexcept { return tasks != 0 || loop != nullptr; }
  };

  /// Owner. With an id other than 0: what was made in that activation of its, or inside of it.
  [[nodiscard]] static surplus surplus_of(const worker& w, std::uint64_t id) noexcept;
  /// Owner. Makes the `count` oldest private tasks ready to be handed to worker number `to`.
  [[nodiscard]] static deque::slot_range prepare(worker& w, std::uint32_t count, std::uint16_t to) noexcept;
  /// Owner. They have been handed over, or will be at once.
  static void let_go(worker& w, deque::slot_range tasks) noexcept;
  /// Owner. Half of the tasks, if the other worker has room for the proxies of so many.
  [[nodiscard]] static std::uint32_t half_of(const surplus& has, std::uint32_t room) noexcept;
  /// Room for proxies on the worker's stack.
  [[nodiscard]] static std::uint32_t room_of(const worker& w) noexcept;
  /// Thief. What `from` has handed to it, or a piece that it was told of; with an id as above.
  [[nodiscard]] static steal_result received(worker& from, deque::slot_range what, std::uint64_t id) noexcept;

 private:
  [[nodiscard]] std::uint32_t taken_end(const worker& victim) const noexcept final;
  [[nodiscard]] static cells& cells_of(const worker& w) noexcept;
};

}  // namespace filch::detail
