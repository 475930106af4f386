// The tasks of a place that may run anywhere: a ring for each worker, and one for what arrives from other places. Workers
// take from each other as Chase and Lev's thieves do; so does whoever looks at the network, for other places. Nothing is
// counted: what a place has is the sum of its rings' sizes, read when it is wanted.
//
// Bodies of async_at, which must run here, have a further ring, which only workers take from.
//
// Who may call what: push() is for workers, of their own rings; arrived() and take_for_others() are for whoever looks at
// the network, one thread at a time; the rest for any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <filch/detail/place_task.hpp>

#include "deque/ring_deque.hpp"
#include "worker/work_source.hpp"

namespace filch::detail::places {

class export_rings final : public work_source {
 public:
  /// `look`: what a worker does between two tasks. `offered`: tells idle workers that something has come from outside.
  /// @throws std::bad_alloc, as those that push.
  export_rings(int workers, std::function<void()> look, std::function<void()> offered);

  void push(worker& w, task_record& r);
  bool acquire(worker& w) noexcept override;
  [[nodiscard]] bool work_visible() const noexcept override;

  void arrived(task_record& r) { add(arrivals_, r); }
  void arrived_to_stay(task_record& r) { add(staying_, r); }
  /// The oldest task of some ring; null: none was found.
  [[nodiscard]] task_record* take_for_others() noexcept;
  /// Tasks that other places could have. A hint.
  [[nodiscard]] int tasks() const noexcept;

 private:
  using ring = deque::ring_deque<task_record>;

  void add(ring& to, task_record& r);
  [[nodiscard]] task_record* take_own(const worker& w) noexcept;
  [[nodiscard]] task_record* take_any(worker& w) noexcept;

  const std::function<void()> look_;
  const std::function<void()> offered_;
  std::vector<std::unique_ptr<ring>> rings_;
  ring arrivals_;
  ring staying_;
  std::uint32_t next_ = 0;  ///< of whoever looks at the network: where to take from
};

}  // namespace filch::detail::places
