// One place: its scheduler, its tasks that may run elsewhere, and its end of the network.
//
// The token: one thread at a time looks at the network, receives, answers thieves, searches, and takes part in waves. It
// is an idle worker, or one that naps while the others sleep; or the watchdog, where none of these looks; or with
// dedicated communication a thread that does nothing else (docs/protocols/success-only.md).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <filch/places.hpp>
#include <filch/places_options.hpp>
#include <filch/scheduler.hpp>

#include "places/closures.hpp"
#include "places/export_rings.hpp"
#include "places/network.hpp"
#include "places/record_pools.hpp"
#include "places/reduction.hpp"
#include "places/steal_protocol.hpp"
#include "places/termination.hpp"
#include "places/tree.hpp"
#include "places/watcher.hpp"
#include "platform/thread.hpp"
#include "scheduler/poller.hpp"

namespace filch::detail::places {

/// A copy that this place has begun.
struct copy_job;

class place final : public poller {
 public:
  /// @throws std::invalid_argument for bad options, and what the scheduler's constructor throws.
  place(network& over, const filch::places::options& chosen);
  ~place() override;

  /// The place that the calling thread is a worker of; null: none.
  [[nodiscard]] static place* current() noexcept;
  /// @throws std::logic_error: there is none.
  [[nodiscard]] static place& here(const char* construct);

  [[nodiscard]] scheduler& pool() noexcept { return *pool_; }
  [[nodiscard]] network& net() noexcept { return net_; }
  [[nodiscard]] filch::places::counts counted();
  [[nodiscard]] void*& own_pointer() noexcept { return own_pointer_; }
  /// Any worker: a number that no other call has had.
  [[nodiscard]] std::uint64_t next_search() noexcept {
    return searches_.fetch_add(1, std::memory_order_relaxed) + 1;  // [FU9] relaxed: a number
  }

  // For workers.

  void begin_finish();
  [[nodiscard]] scope& finish_scope() noexcept { return *spmd_; }
  // [PL4] relaxed: see check_in_finish().
  [[nodiscard]] bool is_in_finish() const noexcept { return is_in_finish_.load(std::memory_order_relaxed); }
  void end_finish();
  void record_error() noexcept;  ///< that is being handled
  void record_error(std::string what) noexcept;
  void count_made(const worker& by) noexcept;
  void count_ended(const worker& by) noexcept;
  [[nodiscard]] task_record& new_record(worker& by, const char* construct, std::size_t room);
  void release(task_record& r, const worker& by) noexcept;
  void push_any(worker& by, task_record& r);
  void send_body(worker& by, int to, task_record& r);
  void run_body(worker& by, task_record& r) noexcept;
  [[nodiscard]] filch::future<> copy(worker& by, int to, std::byte* to_address, int from, const std::byte* from_address,
                                     std::size_t bytes);
  [[nodiscard]] std::vector<std::byte> reduce(reduction_of what, std::span<const std::byte> value, tree::combine add);

  // For whoever is about to look at the network.

  /// False: somebody else looks. `rested`: after a nap.
  seen look(bool rested) noexcept;
  void poll() noexcept override { look(false); }
  [[nodiscard]] bool begin_nap() noexcept override;
  [[nodiscard]] std::int64_t poll_in_nap() noexcept override { return watcher_->poll_in_nap(); }
  void end_nap() noexcept override { watcher_->end_nap(); }

 private:
  void check_place(int number, const char* construct) const;
  void check_in_finish(const char* construct) const;
  void drop(task_record& r, const worker& by) noexcept;
  void check_is_main(const char* construct) const;
  /// Serves until the collective operation is over that this place has begun.
  void serve_until_over();
  void lock_token() noexcept;
  [[nodiscard]] bool try_lock_token() noexcept;
  void unlock_token() noexcept;
  void give_token_back() noexcept;
  /// Sends what a finish_spmd waits for, or leaves it to who has the token. `copied`: whoever receives the answer has it. If there is no memory nothing
  /// was made.
  void post_counted(worker& by, int to, message&& m, std::unique_ptr<copy_job> copied);
  void send_or_leave();
  void send_posted();
  [[nodiscard]] bool is_idle() const noexcept;
  [[nodiscard]] std::optional<place_error> own_error() const;
  // With the token.
  bool step(bool rested);
  void send(int to, message&& m);
  void handle(message&& m);
  void handle_in_finish(const message& m);
  void handle_request(const message& m);
  void take_in(const message& m);
  /// Null: it cannot be read, which is an error of this place's.
  task_record* read_task(const closure_in_message& from, int sender);
  void copy_in(const message& m);
  void copy_out(const message& m);
  void end_copy(void* job);
  void tell_main() noexcept;
  void check_is_matched(const message& m);
  void note_unmatched(const std::string& other, const char* own);

  network& net_;
  const std::size_t workers_;
  export_rings rings_;
  record_pools records_;
  task_counts counts_;
  tree waves_;
  tree reductions_;
  termination termination_;
  steal_site site_;
  std::unique_ptr<steal_protocol> protocol_;
  std::unique_ptr<scheduler> owned_pool_;
  scheduler* pool_ = nullptr;  ///< also while it ends: its workers run what was submitted, and look here, until then

  // With the token.
  platform::atomic<bool> token_{false};
  platform::atomic<bool> token_is_wanted_{false};  ///< by somebody who waits for it
  std::uint32_t finish_ = 0;                       ///< number of the newest finish_spmd here
  bool is_open_ = false;                           ///< it has begun here, and is not over
  std::optional<std::vector<std::byte>> reduced_;
  std::string unmatched_;                   ///< another place takes part in another collective operation than this one
  std::deque<message> early_;               ///< of a finish that has not begun here
  std::unique_ptr<copy_job> ended_copies_;  ///< whose promises are to be kept, without the token

  // Of main.
  void* own_pointer_ = nullptr;
  platform::atomic<std::uint64_t> searches_{0};
  std::unique_ptr<task_group> tasks_;  ///< of the finish_spmd
  std::unique_ptr<scope> spmd_;
  platform::atomic<bool> is_in_finish_{false};
  platform::atomic<bool> is_over_{false};     ///< the finish, or the reduction
  platform::atomic<bool> body_ended_{false};  ///< of the finish, here

  platform::mutex posted_mutex_;
  std::vector<std::pair<int, message>> posted_;
  platform::atomic<bool> has_posted_{false};
  mutable platform::mutex error_mutex_;
  std::optional<place_error> error_;

  std::unique_ptr<watcher> watcher_;  ///< last: it uses all of the others
};

}  // namespace filch::detail::places
