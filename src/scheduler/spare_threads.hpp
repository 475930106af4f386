// Threads that take the places of workers that are blocked: see filch/blocking.hpp.
//
// A spare thread is a guest, so that it has a number, and does what idle workers do for as long as the region lasts. That of a
// scheduler of one worker, for submitted tasks, runs nothing else, until it is blocked: what is in its place runs anything.
//
// Thread safety: any thread may call anything.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <filch/platform/memory.hpp>

#include "platform/parker.hpp"
#include "platform/thread.hpp"
#include "worker/stand_in.hpp"

namespace filch::detail {

class group_rest;
class kept_tasks;
class scheduler_core;
class worker;

class spare_thread final : public stand_in {
 public:
  explicit spare_thread(scheduler_core& home);
  spare_thread(const spare_thread&) = delete;
  spare_thread& operator=(const spare_thread&) = delete;

  /// It is wanted, for tasks of that group only; null: for all there is.
  void begin(group_rest* only) noexcept;
  /// Under the lock of all. It is spare, but in the middle of something: it goes on, in that worker's place. False: it is
  /// not, is that worker, or serves one group only.
  [[nodiscard]] bool begin_again(const worker* blocked) noexcept;
  /// It is spare again, as soon as it has done what it is in the middle of.
  void end() noexcept override { release(false); }
  /// The same of one that serves a group only.
  void end_service() noexcept { release(true); }
  /// It is not begun again. Returns when it has ended, which it does when it is spare.
  void stop() noexcept;

 private:
  friend class spare_threads;

  void run() noexcept;
  void has_come() noexcept;
  void serve() noexcept;
  void release(bool from_service) noexcept;

  scheduler_core& home_;
  bool comes_ = false;  ///< set before it is wanted: it has begun, and is no worker yet
  platform::atomic<bool> wanted_{false};
  platform::atomic<bool> released_{false};
  platform::atomic<bool> stopping_{false};
  platform::atomic<worker*> serving_{nullptr};
  bool is_free_ = true;                          ///< under the lock of all
  platform::shared<group_rest*> only_{nullptr};  ///< what it serves, set before it is wanted; null: all there is
  platform::parker parker_;
  platform::thread thread_;  // at the end: it uses the others
};

class spare_threads final : public stand_ins {
 public:
  explicit spare_threads(scheduler_core& home) noexcept : home_(home) {}

  stand_in* begin(worker& blocked) noexcept override;
  void hand_over_kept(worker& from) noexcept override;
  /// One begins, for tasks of that group, until the scheduler ends. Throws std::system_error when there is none to be had.
  void keep_one(group_rest& only);
  /// All end, and those that begin meanwhile. Afterwards there are none. One thread, which has joined the workers' threads.
  void stop() noexcept;

 private:
  /// Throws std::bad_alloc.
  void hand_over(kept_tasks& own);
  spare_thread& begin_any(worker* blocked, group_rest* only);
  spare_thread* take_last_time() noexcept;
  /// False: it was begun again meanwhile.
  [[nodiscard]] bool give_back(spare_thread& t) noexcept;
  friend class spare_thread;

  scheduler_core& home_;
  platform::mutex mutex_;
  std::vector<std::unique_ptr<spare_thread>> all_;
  std::size_t stopped_ = 0;  ///< the first so many of all end, and do not begin again
  spare_thread* kept_ = nullptr;
};

}  // namespace filch::detail
