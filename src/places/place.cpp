#include "places/place.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "places/closures.hpp"
#include "places/protocol_table.hpp"
#include "places/settings.hpp"
#include "platform/clock.hpp"
#include "platform/placement.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/worker.hpp"

namespace filch::detail::places {
namespace {

/// Messages that are taken in one look, so that nobody who looks is held up for long.
constexpr int most_messages = 64;

/// Of the seeds that workers have, one that no worker has.
constexpr std::uint64_t seed_of_place = 1U << 20;

// What a place does that takes part in one, for note_unmatched().
constexpr const char* in_finish = " calls finish_spmd";
constexpr const char* in_reduction = " calls all_reduce or has ended its main function";
constexpr const char* unmatched_remedy = "; all places call the same, in the same order";

std::string wave_of(int other) { return "place " + std::to_string(other) + in_finish; }

run_result run_record(task& t, run_by /*who*/) {
  auto& w = static_cast<worker&>(*self);
  w.core.place()->run_body(w, static_cast<task_record&>(t));
  return run_result::released;
}

}  // namespace

struct copy_job {
  filch::promise<> done;
  std::unique_ptr<copy_job> next;  ///< that has ended
};

place::place(network& over, const filch::places::options& chosen)
    : net_(over),
      workers_(static_cast<std::size_t>(workers_of(chosen, over.sharers()))),
      rings_(
          static_cast<int>(workers_),
          [this] {
            if (!watcher_->is_dedicated() && watcher_->is_look_due()) look(false);
          },
          [this] { pool_->core().idle_workers().offered(); }),
      records_(workers_),
      counts_(workers_ + 1),
      waves_(over, 0),
      reductions_(over, 1),
      termination_(counts_, waves_),
      site_(
          over, rings_, records_, settings_of(chosen, static_cast<int>(workers_)),
          [this] { return static_cast<int>(pool_->core().idle_workers().idle()); },
          platform::random_seed(seed_of_place + static_cast<std::uint64_t>(over.place()))),
      protocol_(make_protocol(policy_of(chosen), site_)) {
  // Nobody looks before all of it is there.
  lock_token();
  watcher_ =
      std::make_unique<watcher>(is_dedicated(chosen), over.places() > 1, [this](bool rested) { return look(rested); });
  filch::options of_pool = chosen.scheduler;
  of_pool.workers = static_cast<int>(workers_);
  owned_pool_ = std::make_unique<scheduler>(
      of_pool, place_hooks{.of = this, .tasks = &rings_, .network = watcher_->is_dedicated() ? nullptr : this});
  pool_ = owned_pool_.get();
  unlock_token();
}

place::~place() {
  watcher_->stop();  // it looks at the scheduler, whose workers ask it for naps
  owned_pool_.reset();
}

place* place::current() noexcept {
  worker* const w = worker::of_this_thread();
  return w == nullptr ? nullptr : w->core.place();
}

place& place::here(const char* construct) {
  if (place* const p = current()) {
    if (worker::of_this_thread()->number < p->workers_) return *p;
    throw std::logic_error(std::string("filch: ") + construct +
                           " called by a thread of the program's own; call it from main or from a task");
  }
  throw std::logic_error(std::string("filch: ") + construct +
                         " called outside of a place; call it from the main function or a task of filch::places::run");
}

filch::places::counts place::counted() {
  lock_token();
  filch::places::counts now = site_.counted;
  give_token_back();
  now.idle_ns = pool_->stats().idle_ns;
  return now;
}

// The token.

bool place::try_lock_token() noexcept {
  // [PL1] acquire: what the last one who looked has left, from [PL2]. seq_cst: after what this thread has posted, [PO1].
  // No exploration notices a weaker load: what two threads leave to each other is sent by the next one who looks.
  return !token_.load(std::memory_order_seq_cst) && !token_.exchange(true, std::memory_order_acquire);
}

void place::lock_token() noexcept {
  // [PL6] relaxed: a hint. A thread that looks again and again would hardly leave a gap otherwise.
  token_is_wanted_.store(true, std::memory_order_relaxed);
  // At once: whoever has the token may receive and answer many messages before it gives that back.
  while (!try_lock_token()) platform::yield();
  token_is_wanted_.store(false, std::memory_order_relaxed);
}

// [PL2] release: see [PL1]. seq_cst: before the look for what was posted; pairs with [PO1]. No exploration notices a release
// store, as at [PL1].
void place::unlock_token() noexcept { token_.store(false, std::memory_order_seq_cst); }

seen place::look(bool rested) noexcept {
  // [PL6]
  if (token_is_wanted_.load(std::memory_order_relaxed) || !try_lock_token()) return seen::nothing;
  const bool came = step(rested);
  const bool has_work = is_open_ && !is_idle();
  watcher_->note_look();
  give_token_back();
  return came ? seen::message : has_work ? seen::own_work : seen::nothing;
}

void place::give_token_back() noexcept {
  for (;;) {
    std::unique_ptr<copy_job> copies = std::move(ended_copies_);
    unlock_token();
    if (copies != nullptr) {
      // Without the token, which somebody's closure that ends with a promise may want. The finish is not over before they are kept.
      std::size_t ended = 0;
      for (; copies != nullptr; copies = std::move(copies->next), ++ended) copies->done.put();
      lock_token();
      for (; ended != 0; --ended) counts_.ended(workers_);
      continue;
    }
    // Who has posted something meanwhile found the token taken.
    if (!has_posted_.load(std::memory_order_seq_cst) || !try_lock_token()) return;  // [PO1]
    send_posted();
  }
}

bool place::begin_nap() noexcept {
  if (net_.places() > 1) return watcher_->begin_nap();
  // At a single place nobody naps, nor watches. So the last worker that falls asleep is the one to see that nothing is
  // left to do; and it must look, even if somebody else does just now, who may have seen this worker busy. It has
  // announced its sleep ([SL3]), and so knows what those who did so before have done, and that they sleep.
  lock_token();
  step(false);
  give_token_back();
  return false;
}

void place::post_counted(worker& by, int to, message&& m, std::unique_ptr<copy_job> copied) {
  // First: it may have been done before this function ends.
  counts_.made(by.number);
  try {
    const std::lock_guard lock(posted_mutex_);
    posted_.emplace_back(to, std::move(m));
  } catch (...) {
    counts_.ended(by.number);
    throw;
  }
  copy_job* const later = copied.release();  // end_copy() has it
  static_cast<void>(later);
  send_or_leave();
}

void place::send_or_leave() {
  // [PO1] seq_cst: before the look whether somebody has the token, who looks here when it gives that back ([PL2]). It
  // carries nothing else: what is posted is under the lock. No exploration notices a weaker order, as at [PL1].
  has_posted_.store(true, std::memory_order_seq_cst);
  if (!try_lock_token()) return;
  send_posted();
  give_token_back();
}

void place::send_posted() {
  if (!has_posted_.load(std::memory_order_relaxed)) return;
  std::vector<std::pair<int, message>> all;
  {
    const std::lock_guard lock(posted_mutex_);
    all.swap(posted_);
    has_posted_.store(false, std::memory_order_relaxed);  // [PO1] under the lock
  }
  for (auto& [to, m] : all) send(to, std::move(m));
}

void place::send(int to, message&& m) {
  if (to != net_.place()) return net_.send(to, std::move(m));
  m.from = to;
  handle(std::move(m));
}

bool place::step(bool rested) {
  send_posted();
  bool came = false;
  message m;
  for (int i = 0; i < most_messages && net_.receive(m); ++i) {
    came = true;
    handle(std::move(m));
  }
  if (is_open_) {
    protocol_->step(rested);
    if (termination_.step(is_idle(), [this] { return own_error(); })) {
      is_open_ = false;
      tell_main();
    }
  } else {
    // Who has seen tasks here may have occupied this place after its finish was over. It leaves its own only with an
    // answer, and all_reduce, with which run() ends, waits for it.
    protocol_->step_outside();
    if (auto result = reductions_.result()) {
      reduced_ = std::move(*result);
      tell_main();
    }
  }
  return came;
}

// With the token. Main serves, or will look.
void place::tell_main() noexcept {
  // [PL3] seq_cst: before main's worker is told, as serve() wants it. What all places have done came by messages to whoever
  // looks, and goes to main with the token, [PL1, PL2].
  is_over_.store(true, std::memory_order_seq_cst);
  pool_->core().wake_server(pool_->core().seat());
}

bool place::is_idle() const noexcept {
  // [PL5] relaxed: a hint, as all of this is; the counts decide.
  return body_ended_.load(std::memory_order_relaxed) && !has_posted_.load(std::memory_order_relaxed) &&
         pool_->core().idle_workers().idle() >= workers_ && !rings_.work_visible();
}

void place::handle(message&& m) {
  switch (m.kind) {
    case message_kind::tree_up:
    case message_kind::tree_down:
      check_is_matched(m);
      return (m.channel == 0 ? waves_ : reductions_).handle(m);
    case message_kind::no_tasks:
      return protocol_->refused(m.from);
    case message_kind::board_read:
    case message_kind::board_answer:
    case message_kind::board_lock:
    case message_kind::board_thief:
    case message_kind::board_unlock:
      net_.board().handle(m);
      return;
    default:
      break;
  }
  if (m.finish > finish_) {
    // Baseline: a victim that is in the next finish answers a thief with tasks of that one. For this finish it has none.
    if (m.kind == message_kind::tasks) protocol_->refused(m.from);
    early_.push_back(std::move(m));  // the sender has begun it, and this place will
  } else {
    handle_in_finish(m);
  }
}

// With the token. All places call finish_spmd and all_reduce in the same order, and end main after the same calls. A place that
// has done otherwise would be waited for in vain. It is seen by a neighbour in the tree of places: by its number of the
// finishes that it has begun, or because it takes part in what comes after what this place waits for.
void place::check_is_matched(const message& m) {
  if (m.kind != message_kind::tree_up) return;
  if (m.channel == 0) {
    if (reductions_.is_waiting()) note_unmatched(wave_of(m.from), in_reduction);
  } else if (is_open_ && m.finish < finish_) {
    note_unmatched(told(m.contents), in_finish);
  }
}

void place::note_unmatched(const std::string& other, const char* own) {
  unmatched_ = "filch: " + other + ", but place " + std::to_string(net_.place()) + own + unmatched_remedy;
  tell_main();
}

void place::serve_until_over() {
  pool_->core().serve(static_cast<worker&>(*self), is_over_);
  lock_token();
  const std::string unmatched = unmatched_;
  give_token_back();
  if (!unmatched.empty()) throw std::logic_error(unmatched);
}

void place::handle_in_finish(const message& m) {
  switch (m.kind) {
    case message_kind::steal:
    case message_kind::attempt:
      return handle_request(m);
    case message_kind::copy_in:
      return copy_in(m);
    case message_kind::copy_out:
      return copy_out(m);
    case message_kind::copied:
      return end_copy(message_reader(m).get<void*>());
    default:
      return take_in(m);
  }
}

void place::handle_request(const message& m) {
  if (m.finish == finish_ && is_open_) return protocol_->asked(m.from, m.kind);
  ++site_.counted.dropped;
  // Who waits for an answer gets one, however old the question is.
  if (m.kind == message_kind::attempt) site_.refuse(m.from);
}

task_record* place::read_task(const closure_in_message& from, int sender) {
  if (from.type == nullptr) {
    record_error("a task of place " + std::to_string(sender) +
                 " is of a library that is not loaded here; load it at all places before their first finish_spmd");
    return nullptr;
  }
  task_record& r = records_.get(records_.of_network(), from.type->room);
  r.run.store(&run_record);
  r.type.store(from.type);
  try {
    from.type->read(r, from.bytes);
  } catch (...) {
    record_error();
    records_.put(r, records_.of_network());
    return nullptr;
  }
  return &r;
}

void place::take_in(const message& m) {
  const bool may_go = m.kind == message_kind::tasks;
  int tasks = 0;
  for (message_reader left(m); !left.is_at_end(); ++tasks) {
    task_record* const r = read_task(next_closure(left), m.from);
    if (r == nullptr) {
      counts_.ended(workers_);
      continue;
    }
    may_go ? rings_.arrived(*r) : rings_.arrived_to_stay(*r);
  }
  if (may_go) {
    ++site_.counted.steals;
    site_.counted.tasks_stolen += static_cast<std::uint64_t>(tasks);
    protocol_->tasks_came(m.from);
  }
}

// Constructs.

void place::check_place(int number, const char* construct) const {
  if (number >= 0 && number < net_.places()) return;
  throw std::out_of_range(std::string("filch: ") + construct + " to place " + std::to_string(number) + ", but there " +
                          (net_.places() == 1 ? "is 1 place" : "are " + std::to_string(net_.places()) + " places") +
                          "; places are counted from 0");
}

void place::check_in_finish(const char* construct) const {
  // [PL4] relaxed: set by main, before it makes any task. What is in no finish may run when it is over.
  const bool is_counted = static_cast<const worker&>(*self).scopes->innermost() != scope_list::of_background();
  if (is_counted && is_in_finish_.load(std::memory_order_relaxed)) return;
  throw std::logic_error(std::string("filch: ") + construct +
                         " called outside of finish_spmd; call it from its body, or from a task of it, and from no "
                         "submitted task or continuation: make those by async_await instead of submit or then");
}

void place::check_is_main(const char* construct) const {
  const auto& w = static_cast<const worker&>(*self);
  const bool is_main = w.number == 0 && w.is_in_root() && w.inner.tuner == nullptr &&
                       w.scopes->innermost() == nullptr && !is_in_finish_.load(std::memory_order_relaxed);  // [PL4]
  if (is_main && w.head.load() == w.base) return;
  throw std::logic_error(
      std::string("filch: ") + construct +
      (is_main ? " called while main has tasks that it has not waited for; call it when they have ended"
               : " called by a task, or inside of a finish; call it from the main function, at every place"));
}

void place::begin_finish() {
  check_is_main("finish_spmd");
  tasks_ = std::make_unique<task_group>();
  spmd_ = std::make_unique<scope>(tasks_.get(), this);
  is_over_.store(false, std::memory_order_relaxed);  // [PL3] the next finish's
  body_ended_.store(false, std::memory_order_relaxed);
  {
    const std::lock_guard lock(error_mutex_);
    error_.reset();
  }
  counts_.made(0);                                       // the body
  is_in_finish_.store(true, std::memory_order_relaxed);  // [PL4]
  lock_token();
  site_.finish = ++finish_;
  is_open_ = true;
  if (const auto other = reductions_.early_contribution()) note_unmatched(told(other->contents), in_finish);
  std::deque<message> early;
  early.swap(early_);
  for (message& m : early) handle(std::move(m));
  give_token_back();
}

void place::end_finish() {
  counts_.ended(0);
  body_ended_.store(true, std::memory_order_relaxed);  // [PL5]
  try {
    serve_until_over();
  } catch (...) {
    // The finish never ends, and tasks of it may still run, which have these. No more are stolen.
    lock_token();
    is_open_ = false;
    give_token_back();
    const task_group* const group = tasks_.release();
    const scope* const of_tasks = spmd_.release();
    static_cast<void>(group);
    static_cast<void>(of_tasks);
    throw;
  }
  tasks_->wait();                                         // all have ended; what is left of them goes
  is_in_finish_.store(false, std::memory_order_relaxed);  // [PL4]
  lock_token();
  while (!protocol_->end()) {
    // Somebody owes it an answer.
    step(false);
    give_token_back();
    platform::yield();
    lock_token();
  }
  const std::optional<place_error> error = termination_.error();
  give_token_back();
  spmd_.reset();
  tasks_.reset();
  if (error) throw filch::places::place_failed(error->place, error->what);
}

void place::record_error() noexcept { record_error(text_of_handled()); }

void place::record_error(std::string what) noexcept {
  const std::lock_guard lock(error_mutex_);
  if (!error_) error_ = place_error{net_.place(), std::move(what)};
}

std::optional<place_error> place::own_error() const {
  const std::lock_guard lock(error_mutex_);
  return error_;
}

void place::count_made(const worker& by) noexcept { counts_.made(by.number); }
void place::count_ended(const worker& by) noexcept { counts_.ended(by.number); }

task_record& place::new_record(worker& by, const char* construct, std::size_t room) {
  check_in_finish(construct);
  task_record& r = records_.get(by.number, room);
  r.run.store(&run_record);
  return r;
}

void place::release(task_record& r, const worker& by) noexcept { records_.put(r, by.number); }

void place::drop(task_record& r, const worker& by) noexcept {
  r.type.load()->drop(r);
  release(r, by);
}

void place::push_any(worker& by, task_record& r) {
  const busy_section here(by);
  counts_.made(by.number);
  try {
    rings_.push(by, r);
  } catch (...) {
    counts_.ended(by.number);
    drop(r, by);
    throw;
  }
}

void place::send_body(worker& by, int to, task_record& r) {
  message m{.kind = message_kind::bodies, .finish = site_.finish};
  try {
    check_place(to, "async_at");
    write_closure(r, m);
    check_length(m.contents.size());
  } catch (...) {
    drop(r, by);
    throw;
  }
  drop(r, by);
  post_counted(by, to, std::move(m), nullptr);
}

void place::run_body(worker& by, task_record& r) noexcept {
  try {
    finish_frame().run([&] { r.type.load()->run(r); });
  } catch (...) {
    record_error();
  }
  count_ended(by);
}

filch::future<> place::copy(worker& by, int to, std::byte* to_address, int from, const std::byte* from_address,
                            std::size_t bytes) {
  check_in_finish("async_copy");
  check_place(to, "async_copy");
  check_place(from, "async_copy");
  const int me = net_.place();
  if (to != me || from != me) check_length(bytes);
  auto job = std::make_unique<copy_job>();
  filch::future<> done = job->done.get_future();
  if (to == me && from == me) {
    std::memmove(to_address, from_address, bytes);
    job->done.put();
    return done;
  }
  message m{.kind = from == me ? message_kind::copy_in : message_kind::copy_out, .finish = site_.finish};
  message_writer what(m);
  what.add(me).add(job.get()).add(to_address);
  if (from == me) {
    what.add_bytes({from_address, bytes});
  } else {
    what.add(to).add(from_address).add(bytes);
  }
  post_counted(by, from == me ? to : from, std::move(m), std::move(job));
  return done;
}

void place::copy_in(const message& m) {
  message_reader from(m);
  const int initiator = from.get<int>();
  const auto job = from.get<void*>();
  auto* const to = from.get<std::byte*>();
  const auto bytes = from.get_rest();
  std::memcpy(to, bytes.data(), bytes.size());
  message done{.kind = message_kind::copied, .finish = m.finish};
  message_writer(done).add(job);
  send(initiator, std::move(done));
}

void place::copy_out(const message& m) {
  message_reader from(m);
  message copied{.kind = message_kind::copy_in, .finish = m.finish};
  const int initiator = from.get<int>();
  const auto job = from.get<void*>();
  auto* const to_address = from.get<std::byte*>();
  const int to = from.get<int>();
  const auto* const address = from.get<const std::byte*>();
  const auto bytes = from.get<std::size_t>();
  message_writer(copied).add(initiator).add(job).add(to_address).add_bytes({address, bytes});
  send(to, std::move(copied));
}

void place::end_copy(void* job) {
  std::unique_ptr<copy_job> ended(static_cast<copy_job*>(job));
  ended->next = std::move(ended_copies_);
  ended_copies_ = std::move(ended);
}

std::vector<std::byte> place::reduce(reduction_of what, std::span<const std::byte> value, tree::combine add) {
  check_is_main(what == reduction_of::all_reduce ? "all_reduce" : "the end of main");
  is_over_.store(false, std::memory_order_relaxed);  // [PL3]
  lock_token();
  reductions_.contribute(contribution(what, net_.place(), value), combine_contributions(net_.place(), std::move(add)),
                         finish_);
  if (const auto other = waves_.early_contribution()) note_unmatched(wave_of(other->place), in_reduction);
  give_token_back();
  serve_until_over();
  lock_token();
  const std::vector<std::byte> result = std::move(*reduced_);
  give_token_back();
  return value_of(result);
}

}  // namespace filch::detail::places
