// The slow side of division.hpp: giving tasks, and joining those that were given.
#include <algorithm>
#include <cassert>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <filch/detail/division.hpp>

#include "platform/clock.hpp"
#include "worker/inbox.hpp"
#include "worker/interrupter.hpp"
#include "worker/loop_share.hpp"
#include "worker/policy.hpp"
#include "worker/profile_recorder.hpp"
#include "worker/sleepers.hpp"
#include "worker/slow_path.hpp"
#include "worker/stand_in.hpp"
#include "worker/task_trace.hpp"
#include "worker/team.hpp"
#include "worker/wait.hpp"
#include "worker/worker.hpp"
#include "worker/worker_range.hpp"

namespace filch::detail {
namespace {

void enter_place(worker& w, const task_place& place) noexcept {
  w.place = place;
  w.diverts = crosses_workers(place.range) || place.path.trace != nullptr;
  if (w.diverts) w.raise();
}

/// What the worker runs meanwhile is that task of a repeated part, if it is one.
class inside_task {
 public:
  inside_task(worker& w, const task_path& path) noexcept : w_(w), before_(w.place), diverted_(w.diverts) {
    if (path.trace != nullptr) enter_place(w, {.range = {}, .path = path});
  }
  ~inside_task() {
    w_.place = before_;
    w_.diverts = diverted_;
    if (diverted_) w_.raise();
  }
  inside_task(const inside_task&) = delete;
  inside_task& operator=(const inside_task&) = delete;

 private:
  worker& w_;
  const task_place before_;
  const bool diverted_;
};

}  // namespace

task_path next_child(task_path& of) noexcept {
  return {.trace = of.trace, .id = task_trace::child(of.id, of.children++), .children = 0};
}

namespace {

/// So many workers are told of a steal range before the one that has activated it goes on with its own work.
constexpr unsigned told_at_once = 2;

/// What a worker runs of what it was given.
run_result run_given(task& t, run_by /*who*/) {
  given_task& g = *static_cast<piece&>(t).given.load();
  auto& w = static_cast<worker&>(*self);
  const bool is_own = &g.to == &w;
  if (g.steals && (is_own || g.steals->contains(w.number))) w.steals.enter(std::move(g.steals));
  // What was another one's to divide, who is blocked, is not divided.
  const worker_range range = is_own || !crosses_workers(g.place.range) ? g.place.range : worker_range{};
  w.runs_migrated.store(!crosses_workers(range) && is_own, std::memory_order_relaxed);
  enter_place(w, {.range = range, .path = g.place.path});
  if (const task_path& path = g.place.path; path.trace != nullptr) path.trace->note(path.id, w);
  run_result result = run_result::done;
  if (g.s != nullptr) {
    result = g.run(*g.s, run_by::in_place);
  } else if (g.parts > 1) {
    run_fixed(w, *g.whole, g.low, g.high, g.to.number, g.parts);
  } else {
    run_divided(w, *g.whole, g.low, g.high, part_origin::stolen);
  }
  // Who has divided it has been through with that; else it is now. But first, who waits for it may go on.
  if (crosses_workers(range)) w.steals.note_end();
  enter_place(w, {});
  return result;
}

/// Does the worker that is given a task run it while it waits? What no trace asks for is taken back from who waits, since it
/// may want a lock that the waiter holds.
bool is_for_waits(const worker& w, const task_trace* trace) noexcept {
  if (w.common.policy.follows_traces()) return trace != nullptr && trace->is_followed();
  return w.common.policy.waits_run_given();
}

/// Puts a record for a given task into the owner's inbox. Null: no memory.
given_task* give_to(worker& w, worker& to, const task_place& place, const void* family) noexcept {
  piece* const record = w.pieces.get();
  if (record == nullptr) return nullptr;
  const task_trace* const trace = place.path.trace;
  auto* const g =
      new (std::nothrow) given_task{.record = *record,
                                    .giver = w,
                                    .to = to,
                                    .place = place,
                                    .stays = trace != nullptr ? trace->is_strict() : !w.common.policy.takes_back(),
                                    .in_waits = is_for_waits(w, trace),
                                    .steals = steal_range_ref(w.steals.get()),
                                    .family = family};
  if (g == nullptr) {
    w.pieces.put(*record);
    return nullptr;
  }
  piece_pool::set_up(*record, &run_given, w.new_id(), nullptr);
  record->given.store(g);
  // relaxed: who takes it has it from the inbox, and releases the number with its own word ([IB3]).
  record->state.store(task_state{.status = task_status::given}.pack(), std::memory_order_relaxed);
  g->older = std::exchange(w.given, g);
  return g;
}

void deliver(given_task& g) noexcept {
  // A part of a static loop is its worker's alone, as a search root is.
  const bool is_of_static_loop = !g.place.is_known();
  g.to.box.put(g, crosses_workers(g.place.range) || is_of_static_loop);
  g.giver.common.sleepers.deliver(g.to);
  // After [IB1]: as who is available no longer looks whether it was given something.
  if (g.giver.common.spares.are_needed() && !g.to.is_available()) {
    g.giver.common.sleepers.offered(g.giver, 1, takers::anybody);
  }
  // After [IB1]: one of the two sees the other.
  if ((g.in_waits || g.stays) && g.to.wait.dozing.load(std::memory_order_seq_cst)) {  // [AT4]
    // Who waits for detached tasks lets another one take its place. [DB6] relaxed: said before [AT4].
    if (g.in_waits || g.to.wait.group.load(std::memory_order_relaxed) != nullptr) g.to.parker.unpark();
  }
}

/// Puts the task of a private slot into that worker's inbox. False: there is no memory.
bool give_task(worker& w, slot& s, worker& to, const task_place& place, const void* family) noexcept {
  given_task* const g = give_to(w, to, place, family);
  if (g == nullptr) return false;
  g->s = &s;
  g->run = s.run.load();
  s.run.store(&run_given_away);
  deliver(*g);
  return true;
}

/// What the slot of a task of a repeated part holds: the task says who it is to whoever runs it.
run_result run_traced(task& t, run_by who) {
  auto& s = static_cast<slot&>(t);
  auto& w = static_cast<worker&>(*self);
  worker& owner = w.has(s) ? w : w.owner_of_taken();
  const traced_task& traced = owner.traced_at(s);
  const task_path path{.trace = traced.trace.load(), .id = traced.id.load()};
  const task_function run = traced.run.load();  // first, since an owner's slot is free when it runs
  if (&owner != &w) path.trace->note(path.id, w);
  const inside_task here(w, path);
  return run(t, who);
}

/// A new task on the stack, the newest, is that one of a repeated part.
void place_task(worker& w, slot& s, const task_path& path, const void* family) noexcept {
  if (w.split.load() > &s) return;  // an interrupt has offered it
  if (worker* const to = path.trace->place_of(path.id, w)) {
    if (give_task(w, s, *to, {.range = {}, .path = path}, family)) return;
  }
  traced_task& traced = w.traced_at(s);
  traced.run.store(s.run.load());
  traced.id.store(path.id);
  traced.trace.store(path.trace);
  s.run.store(&run_traced);
}

/// Runs the newest private task on the worker's stack that belongs to a repeated part, whatever it is: in a strict
/// iteration nobody else will. False: there is none.
bool run_own(worker& w) noexcept {
  for (slot* s = w.head.load(); s > w.split.load();) {
    if ((--s)->run.load() != &run_traced) continue;
    w.occupied();
    // Before the task runs: what that forks may be offered, this slot with it, and then a thief looks at the slot. Nobody looks how
    // it has ended but its join, which comes later.
    s->run.store(&run_before);
    run_result result{};
    {
      const open_section task(w);
      result = run_traced(*s, run_by::in_place);
    }
    // The state is that of the empty task, which may have been stolen.
    w.traced_at(*s).id.store(static_cast<std::uint64_t>(result));
    return true;
  }
  return false;
}

/// The wait for one given task, in which others of the same construct are helped with as well.
class given_wait : public waiting_worker {
 public:
  given_wait(worker& w, given_task& g) noexcept : waiting_worker(w), given_(g) {}

  [[nodiscard]] join_result result() const noexcept { return result_; }

  bool over() noexcept {
    if (taken_back_) return true;
    const task_state state = look(given_);
    if (!state.finished()) return false;
    result_ = state.status == task_status::done ? join_result::done : join_result::failed;
    return true;
  }

  bool help() noexcept {
    if (run_given() || (given_.stays && given_.place.path.trace != nullptr && run_own(w_))) return true;
    w_.counted.waiting.begin();
    if (tell_next(w_)) return false;  // else those who are idle would wait for what it begins now
    if (any_begun([&](lineage by) { return w_.common.policy.help(w_, by, nullptr); })) return true;
    // Who waits for a part of a static loop, or for what a trace gives, has nothing better to do than to wait for its
    // worker.
    return given_.place.is_by_range() && platform::now_ns() - since_ns_ > take_back_ns && take_back();
  }

  bool interrupt() noexcept {
    return any_begun([&](lineage by) { return w_.common.interrupter.interrupt_if_due(w_.common.team[by.thief]); });
  }

  bool sleep() noexcept {
    if (take_back() || platform::now_ns() - since_ns_ < w_.common.spin_ns) return true;
    if (!mark(true)) return true;
    doze_unless([&] { return any_begun([&](lineage by) { return w_.common.policy.help_visible(w_, by); }); },
                [&] { return interrupter::never; });
    mark(false);
    return true;
  }

 private:
  /// Whoever is awake and has nothing else to do begins what it was given in less.
  static constexpr std::int64_t take_back_ns = 2'000;

  bool take_back() noexcept {
    if (given_.stays || look(given_).status != task_status::given) return false;
    taken_back_ = given_.to.box.take_back(given_);
    return taken_back_;
  }

  // [TS3] acquire: as a task's join.
  static task_state look(const given_task& g) noexcept {
    return task_state::unpack(g.record.state.load(std::memory_order_acquire));
  }

  /// Calls f with who has begun a task of the construct, until it says true.
  template <class F>
  bool any_begun(F f) noexcept {
    for (const given_task* g = w_.given; g != nullptr; g = g->older) {
      if (g->family != given_.family) continue;
      const task_state state = look(*g);
      if (state.status == task_status::taken && f(lineage{state.thief, state.id})) return true;
    }
    return false;
  }

  /// Says, in the states of all, whether the worker sleeps until they are done. False: the awaited one is.
  bool mark(bool waiting) noexcept {
    bool all = true;
    for (given_task* g = w_.given; g != nullptr; g = g->older) {
      if (g->family != given_.family) continue;
      std::uint64_t word = g->record.state.load(std::memory_order_relaxed);
      for (;;) {
        task_state state = task_state::unpack(word);
        if (state.finished()) {
          if (g == &given_) all = false;
          break;
        }
        state.waiting = waiting;
        // [TS4] relaxed: as there.
        if (g->record.state.compare_exchange_weak(word, state.pack(), std::memory_order_relaxed,
                                                  std::memory_order_relaxed)) {
          break;
        }
      }
    }
    return all;
  }

  given_task& given_;
  const std::int64_t since_ns_ = platform::now_ns();
  bool taken_back_ = false;
  join_result result_ = join_result::reclaimed;
};

/// Waits for it, and takes it off the giver's list.
join_result join(worker& w, given_task& g) noexcept {
  join_result how{};
  {
    given_wait waiting(w, g);
    wait_until_over(waiting, std::min(w.common.spin_ns, patience::spin_ns));
    how = waiting.result();
  }
  given_task** link = &w.given;
  while (*link != &g) link = &(*link)->older;
  *link = g.older;
  w.pieces.put(g.record);
  return how;
}

/// Has it given that worker a task of the construct?
bool has_given(const worker& w, const void* family, const worker& to) noexcept {
  for (const given_task* g = w.given; g != nullptr && g->family == family; g = g->older) {
    if (&g->to == &to) return true;
  }
  return false;
}

given_task* find_given(const worker& w, const slot& s) noexcept {
  given_task* g = w.given;
  while (g != nullptr && g->s != &s) g = g->older;
  return g;
}

}  // namespace

bool division::cut_off(double share) noexcept {
  if (is_profiled(w_)) return false;
  if (whole_.path.trace != nullptr) {
    child_.path = next_child(whole_.path);
    rest_.path = next_child(whole_.path);
    return false;
  }
  worker_range& rest = rest_.range;
  const std::uint64_t middle = dividing_point(rest, share);
  child_.range = {.right = middle, .left = rest.left};
  const auto& w = static_cast<const worker&>(w_);
  const bool elsewhere = owner_of(child_.range, w.number) != w.number;
  rest.left = middle;
  return elsewhere;
}

worker& division::owner_of_child() const noexcept {
  const auto& w = static_cast<const worker&>(w_);
  return w.common.team[static_cast<std::uint32_t>(owner_of(child_.range, w.number))];
}

double division::cut_off_at_boundary() noexcept {
  worker_range& rest = rest_.range;
  const std::uint64_t middle = rest.right + (rest.left - rest.right) / 2;
  // Of two equally near the lower one, whatever the last bits say.
  const std::uint64_t boundary = std::clamp(worker_at(middle + one_worker / 2 - one_worker / 65536),
                                            worker_at(rest.right) + 1, worker_at(rest.left - 1)) *
                                 one_worker;
  const double share = static_cast<double>(rest.left - boundary) / static_cast<double>(rest.left - rest.right);
  child_.range = {.right = boundary, .left = rest.left};
  rest.left = boundary;
  return share;
}

bool division::give(slot& s) noexcept {
  auto& w = static_cast<worker&>(w_);
  const busy_section here(w);
  return w.split.load() <= &s && give_task(w, s, owner_of_child(), child_, family_);
}

void division::offer_rest(slot& s) noexcept {
  if (rest_.path.trace == nullptr) return;
  auto& w = static_cast<worker&>(w_);
  const busy_section here(w);
  place_task(w, s, rest_.path, family_);
  answer(w);
}

bool division::give(loop_state& whole, std::uint64_t low, std::uint64_t high) noexcept {
  auto& w = static_cast<worker&>(w_);
  const busy_section here(w);
  return give_part(w, owner_of_child(), {.range = child_.range, .path = {}}, whole, low, high);
}

division::division(worker_core& core, const void* family) noexcept
    : w_(core), family_(family), whole_(core.place), rest_(core.place) {
  auto& w = static_cast<worker&>(core);
  if (w.profile) return;
  outer_ = std::exchange(w.divided, this);
  steal_range* const around = w.steals.get();
  if (around == nullptr) return;
  if (around->is_of(whole_.range)) {
    // The range of all is the outermost construct's. Elsewhere it is an only child's, of which there may be thousands
    // inside of each other.
    steals_by_ = around->is_root() && around->deactivate() ? steals_by::everybody : steals_by::around;
  } else if (w.steals.begin(whole_.range)) {
    steals_by_ = steals_by::own;
    own_ranges_ = 1;
  }
}

division::~division() {
  auto& w = static_cast<worker&>(w_);
  if (w.profile) {
    leave_profiled_child();
    w.profile->join(profiled_);
    return;
  }
  if (leaves_end_to_inner()) return;
  w.divided = outer_;
  for (; own_ranges_ != 0; --own_ranges_) w.steals.end();
  switch (steals_by_) {
    case steals_by::nothing:
    case steals_by::own:
      break;
    case steals_by::everybody:
      activate_all(w, *w.steals.get());
      break;
    case steals_by::around:
      w.steals.get()->begin_phase();
      break;
  }
  enter_place(w, whole_);
  // Where all around steal already, there is nothing to search for any more.
  const bool is_inside = steals_by_ == steals_by::own || steals_by_ == steals_by::around;
  if (is_inside && w.steals.get()->outermost_active() != nullptr) w.diverts = false;
}

/// A construct inside of this one goes on: then that one's end is this one's as well.
bool division::leaves_end_to_inner() noexcept {
  auto& w = static_cast<worker&>(w_);
  if (w.divided == this) return false;
  division* inner = w.divided;
  while (inner->outer_ != this) inner = inner->outer_;
  inner->outer_ = outer_;
  inner->whole_ = whole_;
  inner->own_ranges_ += own_ranges_;
  // Ranges of its own are counted. What the outer one does besides, where these have ended, is what remains.
  if (steals_by_ != steals_by::nothing) inner->steals_by_ = steals_by_;
  return true;
}

void division::leave_profiled_child() noexcept {
  if (std::exchange(is_in_profiled_child_, false)) static_cast<worker&>(w_).profile->end_child(profiled_);
}

void division::enter_child() noexcept {
  if (auto& w = static_cast<worker&>(w_); w.profile) {
    is_in_profiled_child_ = true;
    return w.profile->begin_child(profiled_);
  }
  enter(child_);
}

void division::enter(const task_place& place) noexcept {
  auto& w = static_cast<worker&>(w_);
  if (w.profile) return;
  enter_place(w, place);
  // It is through with its share of the search: who is in its steal range may take tasks from each other.
  if (steal_range* const r = w.steals.get(); r != nullptr && !w.diverts) activate(w, *r, r->now(), family_);
  // A few of them now; and the others when it answers, since this worker's own work waits meanwhile.
  for (unsigned told = 0; told < told_at_once && tell_next(w); ++told) {
  }
  if (w.telling.range) w.raise();
}

void division::enter_rest() noexcept {
  leave_profiled_child();
  enter(rest_);
  // As after the first branch on the fast path.
  if (rest_.path.trace != nullptr) attend(w_);
}

void attend_to_new(worker_core& core, slot& s, const void* group) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  task_path& path = w.place.path;
  if (w.diverts && path.trace != nullptr && path.trace->contains(group, w)) {
    place_task(w, s, next_child(path), group);
  }
  answer(w);
}

void search_pause::go_on(worker_core& w) noexcept { enter_place(static_cast<worker&>(w), w.place); }

join_result join_given(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  if (s.run.load() == &run_before) {
    const auto result = static_cast<run_result>(w.traced_at(s).id.load());
    return result == run_result::failed ? join_result::failed : join_result::done;
  }
  const std::unique_ptr<given_task> g(find_given(w, s));
  return join(w, *g);
}

void leave_given(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  leave_joined(w, s);
  drop_joined_above(w, w.inner.floor);
}

run_result run_given_away(task& t, run_by who) {
  auto& s = static_cast<slot&>(t);
  worker_core& w = *self;
  if (who != run_by::owner) return run_result::done;
  // The owner, in a group's wait: the slot is in use until the task has been joined.
  begin_use(w, s);
  await_given(w, s);
  end_use(w, s);
  return run_result::done;
}

run_result run_before(task& /*t*/, run_by /*who*/) {
  // Another body than the other empty tasks have: functions are told apart by their addresses.
  static_cast<void>(self->split.load());
  return run_result::done;
}

void await_given(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  const std::unique_ptr<given_task> g(find_given(w, s));
  if (g == nullptr) return;  // it has been waited for
  if (join(w, *g) == join_result::reclaimed) {
    const inside_task there(w, g->place.path);
    const open_section task(w);
    g->run(s, run_by::in_place);
  }
}

void activate(worker& w, steal_range& r, steal_range::phase since, const void* family) noexcept {
  if (!r.activate(since)) return;
  tell_rest(w);
  w.telling = {.range = steal_range_ref(&r), .active = r.now(), .family = family, .next = r.right()};
}

void activate_all(worker& w, steal_range& r) noexcept {
  r.begin_active_phase();
  for (std::uint32_t i = 0; i < w.common.team.size() && w.common.sleepers.somebody_sleeps(); ++i) {
    worker& other = w.common.team[i];
    // [SR3] seq_cst: after [SR4]; who found another range active, or none, before it fell asleep has said so. No
    // exploration catches this: as where it says so.
    if (&other != &w && other.reach.load(std::memory_order_seq_cst) != reach_of_all) w.common.sleepers.deliver(other);
  }
}

bool tell_next(worker& w) noexcept {
  assert(!w.interrupt.handling);
  telling_part& telling = w.telling;
  steal_range* const r = telling.range.get();
  if (r == nullptr) return false;
  // Of the range of all are guests as well.
  const std::uint32_t last = r->is_root() ? w.common.team.size() - 1 : r->left();
  if (telling.next > last || r->now() != telling.active) {
    telling.range = {};
    return false;
  }
  worker& other = w.common.team[telling.next++];
  if (&other == &w) return true;
  // Whoever was given nothing knows of none of this.
  if (!has_given(w, telling.family, other)) other.box.tell(*r);
  // After [SR4] or [IB1]: who looked before falls asleep with nobody to take from.
  w.common.sleepers.deliver(other);
  return true;
}

void tell_rest(worker& w) noexcept {
  while (tell_next(w)) {
  }
}

bool give_part(worker& w, worker& to, const task_place& place, loop_state& whole, std::uint64_t low, std::uint64_t high,
               std::uint64_t parts) noexcept {
  given_task* const g = give_to(w, to, place, &whole);
  if (g == nullptr) return false;
  g->whole = &whole;
  g->low = low;
  g->high = high;
  g->parts = parts;
  deliver(*g);
  return true;
}

void join_given_parts(worker& w, const loop_state& whole) noexcept {
  for (given_task* g = w.given; g != nullptr && g->whole == &whole; g = w.given) {
    const std::unique_ptr<given_task> owned(g);
    if (join(w, *g) == join_result::reclaimed) {
      const inside_task there(w, g->place.path);
      const open_section part(w);
      if (g->parts > 1) {
        run_fixed(w, *g->whole, g->low, g->high, g->to.number, g->parts);
      } else {
        g->whole->code.run_part(w, *g->whole, g->low, g->high, 0, part_origin::taken_back);
      }
    }
  }
}

void reject_hint(double work, double left) {
  throw std::invalid_argument("filch: a work hint of " + std::to_string(work) + ", where " + std::to_string(left) +
                              " is left; hints are amounts of 0 or more, and add up to the total at most");
}

void note_bad_hint(worker_core& w) noexcept {
  if (&w != &foreign_worker) static_cast<worker&>(w).count(&counters::bad_hints);
}

}  // namespace filch::detail
