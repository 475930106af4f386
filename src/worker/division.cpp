// The slow side of division.hpp: giving tasks, and joining those that were given.
#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <filch/detail/division.hpp>
#include <filch/detail/loop_share.hpp>

#include "platform/clock.hpp"
#include "worker/inbox.hpp"
#include "worker/interrupter.hpp"
#include "worker/policy.hpp"
#include "worker/sleepers.hpp"
#include "worker/slow_path.hpp"
#include "worker/team.hpp"
#include "worker/wait.hpp"
#include "worker/worker.hpp"
#include "worker/worker_range.hpp"

namespace filch::detail {
namespace {

void enter_range(worker& w, worker_range range) noexcept {
  w.range = range;
  w.diverts = crosses_workers(range);
  if (w.diverts) w.raise();
}

/// The worker is through with its share of a search: who is in its steal range may take tasks from each other.
void activate(worker& w) noexcept {
  steal_range* const r = w.steals.get();
  if (r == nullptr || r->set_active(true)) return;
  for (std::uint32_t i = r->right(); i <= r->left(); ++i) {
    if (i == w.number) continue;
    worker& other = w.common.team[i];
    other.box.tell(*r);
    w.common.sleepers.deliver(other);
  }
}

/// What a worker runs of what it was given.
run_result run_given(task& t, run_by /*who*/) {
  given_task& g = *static_cast<piece&>(t).given.load();
  auto& w = static_cast<worker&>(*self);
  if (g.steals) w.steals = steal_range_ref(g.steals.get());
  w.runs_migrated.store(!crosses_workers(g.range) && &g.to == &w, std::memory_order_relaxed);
  enter_range(w, g.range);
  run_result result = run_result::done;
  if (g.s != nullptr) {
    result = g.run(*g.s, run_by::in_place);
  } else {
    run_divided(w, *g.whole, g.low, g.high, part_origin::stolen);
  }
  // Who has divided it has been through with that; else it is now.
  if (crosses_workers(g.range)) activate(w);
  enter_range(w, {});
  return result;
}

/// Makes a record for a task that is given to that worker. Null: no memory.
given_task* give_to(worker& w, worker& to, worker_range range, const void* family) noexcept {
  piece* const record = w.pieces.get();
  if (record == nullptr) return nullptr;
  auto* const g = new (std::nothrow) given_task{.record = *record,
                                                .giver = w,
                                                .to = to,
                                                .range = range,
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

worker& owner_in_team(const worker& w, worker_range child) noexcept {
  return w.common.team[static_cast<std::uint32_t>(owner_of(child, w.number))];
}

void deliver(given_task& g) noexcept {
  // A part of a loop that is not divided by ranges is its worker's, too.
  g.to.box.put(g, crosses_workers(g.range) || g.range.left == 0);
  g.giver.common.sleepers.deliver(g.to);
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
    w_.counted.waiting.begin();
    return any_begun([&](lineage by) { return w_.common.policy.help(w_, by, nullptr); });
  }

  bool interrupt() noexcept {
    return any_begun([&](lineage by) { return w_.common.interrupter.interrupt_if_due(w_.common.team[by.thief]); });
  }

  bool sleep() noexcept {
    if (w_.common.policy.takes_back() && look(given_).status == task_status::given) {
      taken_back_ = given_.to.box.take_back(given_);
      return true;
    }
    if (platform::now_ns() - since_ns_ < w_.common.spin_ns) return true;
    if (!mark(true)) return true;
    doze_unless([&] { return any_begun([&](lineage by) { return w_.common.policy.help_visible(w_, by); }); },
                [&] { return interrupter::never; });
    mark(false);
    return true;
  }

 private:
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

given_task* find_given(const worker& w, const slot& s) noexcept {
  given_task* g = w.given;
  while (g != nullptr && g->s != &s) g = g->older;
  return g;
}

}  // namespace

bool division::cut_off(double share) noexcept {
  const std::uint64_t middle = dividing_point(rest_, share);
  child_ = {.right = middle, .left = rest_.left};
  const auto& w = static_cast<const worker&>(w_);
  const bool elsewhere = owner_of(child_, w.number) != w.number;
  rest_.left = middle;
  return elsewhere;
}

double division::cut_off_at_boundary() noexcept {
  const std::uint64_t middle = rest_.right + (rest_.left - rest_.right) / 2;
  // Of two equally near the lower one, whatever the last bits say.
  const std::uint64_t boundary = std::clamp(worker_at(middle + one_worker / 2 - one_worker / 65536),
                                            worker_at(rest_.right) + 1, worker_at(rest_.left - 1)) *
                                 one_worker;
  const double share = static_cast<double>(rest_.left - boundary) / static_cast<double>(rest_.left - rest_.right);
  child_ = {.right = boundary, .left = rest_.left};
  rest_.left = boundary;
  return share;
}

bool division::give(slot& s) noexcept {
  auto& w = static_cast<worker&>(w_);
  const busy_section here(w);
  if (w.split.load() > &s) return false;
  given_task* const g = give_to(w, owner_in_team(w, child_), child_, family_);
  if (g == nullptr) return false;
  g->s = &s;
  g->run = s.run.load();
  s.run.store(&run_given_away);
  deliver(*g);
  return true;
}

bool division::give(loop_state& whole, std::uint64_t low, std::uint64_t high) noexcept {
  auto& w = static_cast<worker&>(w_);
  const busy_section here(w);
  return give_part(w, owner_in_team(w, child_), child_, whole, low, high);
}

division::division(worker_core& core, const void* family) noexcept
    : w_(core), family_(family), whole_(core.range), rest_(core.range) {
  auto& w = static_cast<worker&>(core);
  steal_range* const around = w.steals.get();
  if (around == nullptr) return;
  if (around->is_of(whole_)) {
    // The range of all is the outermost construct's. Elsewhere it is an only child's, of which there may be thousands
    // inside of each other.
    steals_by_ = around->is_root() && around->set_active(false) ? steals_by::everybody : steals_by::around;
  } else if (steal_range* const made = steal_range::make(whole_, around)) {
    steals_by_ = steals_by::own;
    w.steals = steal_range_ref::owner_of(made);
  }
}

division::~division() {
  auto& w = static_cast<worker&>(w_);
  if (steals_by_ != steals_by::nothing) w.steals->set_active(steals_by_ == steals_by::everybody);
  if (steals_by_ == steals_by::own) w.steals = steal_range_ref(&w.steals->around());
  enter_range(w, whole_);
  // Where all around steal already, there is nothing to search for any more.
  const bool is_inside = steals_by_ == steals_by::own || steals_by_ == steals_by::around;
  if (is_inside && w.steals->outermost_active() != nullptr) w.diverts = false;
}

void division::enter(worker_range range) noexcept {
  auto& w = static_cast<worker&>(w_);
  enter_range(w, range);
  if (!w.diverts) activate(w);
}

void search_pause::go_on(worker_core& w) noexcept { enter_range(static_cast<worker&>(w), w.range); }

join_result join_given(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
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

void await_given(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  const std::unique_ptr<given_task> g(find_given(w, s));
  if (g == nullptr) return;  // it has been waited for
  if (join(w, *g) == join_result::reclaimed) {
    const open_section task(w);
    g->run(s, run_by::in_place);
  }
}

bool give_part(worker& w, worker& to, worker_range range, loop_state& whole, std::uint64_t low,
               std::uint64_t high) noexcept {
  given_task* const g = give_to(w, to, range, &whole);
  if (g == nullptr) return false;
  g->whole = &whole;
  g->low = low;
  g->high = high;
  deliver(*g);
  return true;
}

void join_given_parts(worker& w, const loop_state& whole) noexcept {
  for (given_task* g = w.given; g != nullptr && g->whole == &whole; g = w.given) {
    const std::unique_ptr<given_task> owned(g);
    if (join(w, *g) == join_result::reclaimed) {
      const open_section part(w);
      g->whole->run_part(w, *g->whole, g->low, g->high, 0, part_origin::taken_back);
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
