// blocking: a part of a task that waits for something outside: a file, a lock, another process.
#pragma once

#include <filch/config.hpp>

namespace filch {

namespace detail {
class worker;
}  // namespace detail

/// While it exists, the calling task is expected to sleep, and another thread of the scheduler takes the worker's place, so
/// that as many go on computing as before. What the worker has forked or left of its loops is offered to others. So
/// tasks may wait for each other, in blocking regions and by futures, in any order that has no cycle: as long as one is blocked,
/// somebody is left who begins others, and a worker that sleeps in a wait as the last one is replaced as well. But iterations of a loop
/// are run in chunks, one after the other: what is to wait for each other is made a task of its own, of a task_group. What has a
/// place, as parts of static loops and tasks of policy `adws`, loses it meanwhile. (Not with a join whose waits run anything. And
/// where a task runs at once that is added to a group, it runs before what is added later: with policy `serial`, and in groups
/// with a total under `adws`.)
///
///     { const filch::blocking here; bytes = read(socket, buffer, sizeof buffer); }
///
/// On a thread that is no worker it does nothing, nor in a place (filch/places.hpp), whose workers have what no other thread
/// has: give such a place a worker more. The thread that takes the place is started when it is first needed and
/// kept; if there is none to be had, the worker's place stays empty. A few microseconds when it begins and ends. May be
/// nested. Ends on the thread that began it. A thread that runs a task of one scheduler inside of a task of another one
/// is replaced in both; in the outer one also while it sleeps in a wait of the inner one, without being told.
class FILCH_API blocking {
 public:
  blocking() noexcept;
  ~blocking();
  blocking(const blocking&) = delete;
  blocking& operator=(const blocking&) = delete;

 private:
  detail::worker* worker_;
};

}  // namespace filch
