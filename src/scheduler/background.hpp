// Tasks that are part of no construct: submitted ones, and continuations of futures. They are detached tasks of one group,
// for which nobody waits; who waits for a future looks at its task.
//
// Thread safety: any thread may call anything.
#pragma once

#include <cstdint>
#include <memory>

#include <filch/detail/background_task.hpp>
#include <filch/platform/memory.hpp>

#include "platform/parker.hpp"
#include "platform/thread.hpp"
#include "scheduler/group_rest.hpp"

namespace filch::detail {

class scheduler_core;
class team;
class worker;

/// The way from a task to the scheduler that is to run it, which may end before. It lasts as long as anybody keeps it: the
/// scheduler, tasks, and workers, which have some keeps in store for the tasks that they make.
class background_link {
 public:
  /// For whom it makes, who is to let it go.
  explicit background_link(scheduler_core& to) noexcept : to_(to) {}
  background_link(const background_link&) = delete;
  background_link& operator=(const background_link&) = delete;

  /// Who keeps it: one more keeps it, or so many.
  // [BL3] relaxed: the caller keeps it meanwhile.
  void keep(std::uint64_t times = 1) noexcept { keeps_.fetch_add(times, std::memory_order_relaxed); }
  /// The last one ends it.
  void let_go(std::uint64_t times = 1) noexcept;
  /// As keep(), for a new task of the calling thread, and let_go(), of a task that ends on it. A worker of that scheduler uses its
  /// store, so that few tasks touch the shared count.
  void keep_for_task() noexcept;
  void let_go_of_task() noexcept;

  /// Calls use(core) unless the scheduler ends, which waits for that. The caller keeps the link. Throws what use() throws.
  /// @return false if it ends, or has.
  template <class Use>
  bool with(const Use& use) {
    const user here(*this);
    if (!here.may_use) return false;
    use(to_);
    return true;
  }
  /// The scheduler ends: nobody begins to use it any more.
  void cut() noexcept;
  /// Afterwards nobody uses it.
  void await_users() noexcept;
  /// Any thread, any time: the scheduler, if the thread is in a task of it, which does not end before that. Else null.
  [[nodiscard]] scheduler_core* around_caller() const noexcept;
  /// Any time.
  [[nodiscard]] bool leads_to(const scheduler_core& core) const noexcept;

 private:
  /// So many keeps go to a worker's store, or come back from there, at once.
  static constexpr std::uint64_t batch = 256;
  static constexpr std::uint32_t is_cut = 1;
  static constexpr std::uint32_t one_user = 2;

  struct user {
    explicit user(background_link& link) noexcept
        : of(link),
          // [BL1] relaxed: in the order of this word, a user comes before the cut and is waited for, or sees it.
          may_use(link.users_.fetch_add(one_user, std::memory_order_relaxed) % one_user != is_cut) {}
    ~user() { of.leave(); }
    user(const user&) = delete;
    user& operator=(const user&) = delete;

    background_link& of;
    const bool may_use;
  };

  ~background_link() = default;
  void leave() noexcept;
  /// As which the calling thread is in a task of the scheduler; null: it is in none.
  [[nodiscard]] worker* worker_of_caller() const noexcept;

  scheduler_core& to_;
  platform::atomic<std::uint64_t> keeps_{1};  ///< those in stores included
  platform::atomic<std::uint32_t> users_{0};  ///< who uses the scheduler, or looks whether it may; and the cut
  platform::parker parker_;                   ///< of who waits for users
};

class background {
 public:
  background(scheduler_core& home, team& everybody)
      : home_(home), link_(*new background_link(home)), everybody_(everybody) {}
  /// Nobody is a worker any more.
  ~background();
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// A new task, held, which keeps itself. Throws std::bad_alloc, and std::system_error when there is no thread.
  void adopt(background_task& t, future_base& made);
  /// A new task, which keeps itself and may run at once. Throws as adopt().
  void submit(background_task& t, future_base& made);
  /// An adopted task may run. Returns whom the caller is to tell, if it has run at once.
  [[nodiscard]] future_waiter* queue(background_task& t) noexcept;
  /// A link lasts as long as anybody has it, so no other scheduler at the same address has it.
  [[nodiscard]] bool has(const background_link& link) const noexcept { return &link_ == &link; }
  /// Is the calling thread in a task of the scheduler?
  [[nodiscard]] bool is_around_caller() const noexcept { return link_.around_caller() != nullptr; }
  /// No continuation comes any more.
  void close() noexcept { link_.cut(); }
  /// After close(): until those that were coming have come.
  void await_users() noexcept { link_.await_users(); }

 private:
  /// The group of all tasks. Throws as adopt().
  [[nodiscard]] group_rest& tasks();

  // What each task reads, and nobody writes after the first one.
  scheduler_core& home_;
  background_link& link_;
  platform::atomic<group_rest*> tasks_{nullptr};  ///< made with the first task
  team& everybody_;
  std::unique_ptr<group_rest> made_;  ///< the same
  platform::mutex mutex_;             ///< of who makes it
};

}  // namespace filch::detail
