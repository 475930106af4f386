// What the templates of filch/places.hpp call.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <filch/detail/run_place.hpp>
#include <filch/places.hpp>

#include "places/place.hpp"
#include "platform/backoff.hpp"
#include "scheduler/group_rest.hpp"
#include "scheduler/injector.hpp"
#include "worker/policy.hpp"
#include "worker/worker.hpp"

namespace filch {
namespace detail::places {
namespace {

worker& this_worker_of_place() noexcept { return static_cast<worker&>(*self); }

scope& scope_of_place(scope& s) {
  static_cast<void>(place::here("finish"));
  return s;
}

/// A task of a finish that runs the task which makes a future ready.
class maker_help final : public detached_task, public future_waiter {
 public:
  explicit maker_help(future_user<future_base> f) noexcept : future_(std::move(f)) {
    run.store([](task& t, run_by /*who*/) {
      auto& own = static_cast<maker_help&>(t);
      run_maker(*own.future_);
      group_rest& of = *own.home;
      delete &own;
      of.home.end(of);
      return run_result::released;
    });
    tell = [](future_waiter& w) noexcept {
      held_tasks::release(static_cast<maker_help&>(w));
      return static_cast<future_waiter*>(nullptr);
    };
  }

 private:
  const future_user<future_base> future_;
};

/// What a continuation waits for; null: it is no continuation, or has been released.
future_user<future_base> source_of(background_task& t) noexcept {
  for (platform::backoff asking; t.is_held();) {
    if (future_user<future_base> source = t.source(); source != nullptr) return source;
    asking.wait();  // somebody else asks just now
  }
  return {};
}

/// Adds a task to the finish that runs the maker of `at` when that may run, and to `left` what it waits for.
void help_maker(scope& of, const future_user<future_base>& at, std::vector<future_user<future_base>>& left) {
  const future_user<future_base> source = source_of(*at->maker());
  if (source == nullptr && !at->maker()->is_queued()) return;
  if (source != nullptr) left.push_back(source);
  auto help = std::make_unique<maker_help>(at);
  held_tasks::adopt(*of.tasks, *help);
  maker_help& added = *help.release();
  if (source == nullptr || !source->add(added)) held_tasks::release(added);
}

/// The number by which futures know the finish, unlike any before at this place.
std::uint64_t search_of(scope& of) {
  std::uint64_t known = of.search.load(std::memory_order_relaxed);  // [FU9] relaxed: a number
  if (known != 0) return known;
  const std::uint64_t made = place::current()->next_search();
  // Of two tasks of the finish, one says it. [FU9] relaxed: a number.
  const bool is_mine =
      of.search.compare_exchange_strong(known, made, std::memory_order_relaxed, std::memory_order_relaxed);
  return is_mine ? made : known;
}

}  // namespace

/// A task that is held until as many futures are ready.
class await_node {
 public:
  explicit await_node(std::size_t futures) : waiters_(std::make_unique<waiter[]>(futures)), left_(futures + 1) {
    for (std::size_t i = 0; i < futures; ++i) {
      waiters_[i].tell = [](future_waiter& w) noexcept {
        static_cast<waiter&>(w).of->are_ready(1);
        return static_cast<future_waiter*>(nullptr);
      };
      waiters_[i].of = this;
    }
  }

  void wait_for(std::span<future_base* const> all, detached_task& held) noexcept {
    held_ = &held;
    std::size_t ready = 1;  // this call counts as well, so that nobody else ends the node before it does
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i]->add(waiters_[i])) ++ready;
    }
    are_ready(ready);
  }

 private:
  struct waiter : future_waiter {
    await_node* of = nullptr;
  };

  void are_ready(std::size_t count) noexcept {
    // [AW1] acq_rel: what the makers of all values did, for the task.
    if (left_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
    held_tasks::release(*held_);
    delete this;
  }

  detached_task* held_ = nullptr;
  std::unique_ptr<waiter[]> waiters_;
  platform::atomic<std::size_t> left_;
};

void release(task_record& r) noexcept { place::current()->release(r, this_worker_of_place()); }

scope& current_scope() {
  place& at = place::here("async");
  void* const innermost = this_worker_of_place().scopes->innermost();
  if (innermost != nullptr && innermost != scope_list::of_background()) return *static_cast<scope*>(innermost);
  // What others have added to a group on the heap: that is over before the finish_spmd is.
  if (innermost == nullptr && at.is_in_finish()) return at.finish_scope();
  throw std::logic_error(
      "filch: async called outside of a finish; call it inside of finish or finish_spmd, and from no submitted task or "
      "continuation: make those by async_await instead of submit or then; tasks of a task_group on the heap are in no "
      "finish");
}

inside::inside(scope& of) noexcept {
  worker& w = this_worker_of_place();
  begun_ = w.scopes->innermost() != &of;
  if (begun_) w.scopes->begin(w.head.load(), w.newest_id, &of);
}

inside::~inside() {
  if (begun_) this_worker_of_place().scopes->end();
}

finish_frame::finish_frame() : scope_{&tasks_, nullptr}, here_(scope_of_place(scope_)) {}

void finish_frame::wait_for_all() noexcept {
  try {
    tasks_.wait();
  } catch (...) {  // what left the body is the finish's
  }
}

void count_made(place& at) noexcept { at.count_made(this_worker_of_place()); }
void count_ended(place& at) noexcept { at.count_ended(this_worker_of_place()); }
void record_error(place& at) noexcept { at.record_error(); }

awaiting::awaiting(std::size_t futures) : node_(std::make_unique<await_node>(futures)) {}

awaiting::~awaiting() = default;

void awaiting::await(detached_task& held, std::span<future_base* const> all) noexcept {
  node_.release()->wait_for(all, held);
}

void help_makers(scope& of, future_user<future_base> f) {
  // A finish_spmd waits as idle workers do. Where tasks run at once, whatever may run has.
  if (of.counts != nullptr || this_worker_of_place().common.policy.runs_at_once()) return;
  const std::uint64_t search = search_of(of);
  try {
    std::vector<future_user<future_base>> left{std::move(f)};
    while (!left.empty()) {
      const future_user<future_base> at = std::move(left.back());
      left.pop_back();
      // Each once in a finish, however many are made of it.
      if (at->is_ready() || !at->is_new_to(search)) continue;
      if (at->parts() != nullptr) {
        at->parts()->visit([&](future_base& part) {
          part.add_user();
          // First the user, which goes again if there is no memory for the list.
          future_user<future_base> user(&part);
          left.push_back(std::move(user));
          return false;
        });
      } else if (at->maker() != nullptr) {
        help_maker(of, at, left);
      }
    }
  } catch (...) {
    of.search.store(0, std::memory_order_relaxed);  // [FU9] what is left here was seen, and not helped
    throw;
  }
}

task_record& new_record(const char* construct, std::size_t room) {
  return place::here(construct).new_record(this_worker_of_place(), construct, room);
}

void push_any(task_record& r) { place::current()->push_any(this_worker_of_place(), r); }

void send_body(int to, task_record& r) { place::current()->send_body(this_worker_of_place(), to, r); }

int run_place(network& over, const filch::places::options& chosen, const std::function<int()>& main) {
  place here(over, chosen);
  return here.pool().run([&] {
    const int status = main();
    // Until all have come here, places may still owe each other answers.
    static_cast<void>(
        here.reduce(reduction_of::end_of_main, {}, [](std::span<std::byte>, std::span<const std::byte>) {}));
    return status;
  });
}

}  // namespace detail::places

namespace places {

using detail::places::place;

int here() { return place::here("here").net().place(); }
int count() { return place::here("count").net().places(); }
int workers() { return place::here("workers").pool().workers(); }
void*& own_pointer() { return place::here("own_pointer").own_pointer(); }
counts counted() { return place::here("counted").counted(); }

namespace detail_spmd {

void begin() { place::here("finish_spmd").begin_finish(); }
void end() { place::current()->end_finish(); }
detail::places::scope& scope() { return place::current()->finish_scope(); }
void failed() noexcept { place::current()->record_error(); }

}  // namespace detail_spmd

namespace detail_copy {

future<> copy(global_ptr<std::byte> to, global_ptr<const std::byte> from, std::size_t bytes) {
  return place::here("async_copy")
      .copy(detail::places::this_worker_of_place(), to.place, to.address, from.place, from.address, bytes);
}

}  // namespace detail_copy

namespace detail_reduce {

void reduce(std::vector<std::byte>& value,
            const std::function<void(std::span<std::byte>, std::span<const std::byte>)>& add) {
  value = place::here("all_reduce").reduce(detail::places::reduction_of::all_reduce, value, add);
}

}  // namespace detail_reduce
}  // namespace places
}  // namespace filch
