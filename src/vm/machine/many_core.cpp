#include "vm/machine/many_core.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <filch/vm/data_units.hpp>

#include "platform/parker.hpp"
#include "platform/thread.hpp"
#include "vm/machine/mix.hpp"

namespace filch::platform::vm {
namespace {

/// How far a thread may run ahead of the others before its operations on lines that it holds are out of order.
constexpr picoseconds lead = 100'000;

/// What one turn of a waiting loop executes besides memory operations and the pause: drawing a victim, a few calls, the
/// comparisons. About as much on any core, so not worth a figure in every machine file.
constexpr double cycles_per_spin = 40;

/// Only what is touched costs memory.
constexpr std::size_t stack_bytes = std::size_t{64} << 20;
constexpr std::size_t stack_reserve = std::size_t{64} << 10;

/// How far a node may go ahead of the others while nobody there looks at the network. The longer, the more its threads
/// find in the simulator's own caches; no result depends on it.
constexpr picoseconds slice = 20'000'000;

}  // namespace

struct many_core::virtual_thread : fiber {
  std::uint32_t processor = 0;  ///< hardware thread
  std::uint32_t core = 0;       ///< that one's
  std::uint16_t node = 0;       ///< both are numbers within it
  line_users alone;             ///< of the lines that this node has to itself
  picoseconds clock = 0;
  picoseconds stores_done = 0;  ///< when the last buffered store is visible to others
  bool is_waiting = false;      ///< blocked: neither running nor, unless it waits for a time, in the queue
  bool is_timed = false;        ///< it waits for a time
  bool is_handling = false;     ///< an interrupt
  picoseconds interrupt_at = never;
  picoseconds goes_on_at = 0;  ///< interrupted before that, it has to do the rest afterwards
  bool has_ended = false;
  virtual_thread* joiner = nullptr;
  word answer = 0;  ///< of a word of another node
  const std::byte* stack_top = nullptr;
};

many_core::many_core(const machine_description& machine, std::uint64_t seed, int threads, int nodes)
    : machine_(machine),
      seed_(seed),
      lines_(machine),
      spin_(from_ns(machine.system.pause_ns + cycles_per_spin / machine.clock_ghz)),
      park_(from_ns(machine.system.park_ns)),
      wake_call_(from_ns(machine.system.wake_call_ns)),
      wake_latency_(from_ns(machine.system.wake_latency_ns)),
      signal_call_(from_ns(machine.system.signal_call_ns)),
      signal_latency_(from_ns(machine.system.signal_latency_ns)),
      nodes_(static_cast<std::size_t>(nodes)),
      clocks_(nodes_.size()),
      here_(&nodes_.front()),
      fibers_(static_cast<std::size_t>(threads) * nodes_.size(), stack_bytes),
      presence_(*this) {
  if (machine.network) network_.emplace(*machine.network, nodes_.size(), seed);
  if (nodes > 1 && !network_) {
    throw std::invalid_argument(
        "filch: machine '" + machine.name + "' has no network for " + std::to_string(nodes) +
        " places; add the group \"network\" to its file, or use another machine such as edison");
  }
  for (computer& each : nodes_) {
    if (machine.threads_per_core > 1) each.busy_threads.resize(static_cast<std::size_t>(machine.cores()));
  }
  here_->data = std::make_unique<data_memory>(machine_);
}

many_core::~many_core() = default;

void many_core::run(std::function<void()> program) {
  programs_ = nodes_.size();
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    add_thread(
        [this, &program] {
          try {
            program();
          } catch (...) {
            error_ = std::current_exception();
          }
          if (error_ != nullptr) leave();  // not in the handler, which would keep the exception for ever
          end_program();
        },
        node, 0);
    clocks_.set(node, 0);
  }
  virtual_thread& first = next_of_all_nodes();
  enter(first);
  fibers_.run(first);
  if (const int overflowed = fibers_.overflowed(); overflowed >= 0) {
    throw std::runtime_error("filch: the stack of virtual worker " + std::to_string(overflowed) +
                             " has overflowed; simulate a smaller size");
  }
  for (computer& each : nodes_) {
    each.ready.clear();
    each.suspended = nullptr;
  }
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

void many_core::end_program() {
  if (--programs_ == 0) leave();
  end_thread();
}

/// Back to the program around, for good.
void many_core::leave() {
  running_->has_ended = true;
  last_clock_ = std::max(last_clock_, running_->clock);
  running_ = nullptr;
  fibers_.leave();
}

double many_core::now_s() const noexcept {
  return static_cast<double>(running_ == nullptr ? last_clock_ : running_->clock) * 1e-12;
}

int many_core::processor() const noexcept { return static_cast<int>(running_->processor); }

std::size_t many_core::stack_left() const noexcept {
  if (running_ == nullptr) return stack_bytes;
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  const auto used = static_cast<std::size_t>(running_->stack_top - here) + stack_reserve;
  return used < stack_bytes ? stack_bytes - used : 0;
}

// Threads and their order.

std::uint32_t many_core::core_of(std::uint32_t processor) const noexcept {
  return processor % static_cast<std::uint32_t>(machine_.cores());
}

/// Of a thread that nobody has given one.
std::uint32_t many_core::next_processor(const computer& in) const {
  const auto most = static_cast<std::uint32_t>(machine_.hardware_threads());
  const std::uint32_t own = static_cast<std::uint32_t>(in.threads.size()) % most;
  if (!in.is_placed) return own;
  std::vector<bool> used(most);
  for (const virtual_thread* const each : in.threads) {
    if (!each->has_ended) used[each->processor] = true;
  }
  const auto free = std::find(used.begin(), used.end(), false);
  return free == used.end() ? own : static_cast<std::uint32_t>(free - used.begin());
}

many_core::virtual_thread& many_core::add_thread(std::function<void()> body, std::uint32_t node,
                                                 std::uint32_t processor) {
  auto made = std::make_unique<virtual_thread>();
  virtual_thread& t = *made;
  t.number = static_cast<std::uint32_t>(threads_.size());
  t.processor = processor;
  t.core = core_of(processor);
  t.node = static_cast<std::uint16_t>(node);
  t.alone = {.first = t.node};
  t.body = [&t, own = std::move(body)] {
    t.stack_top = static_cast<const std::byte*>(__builtin_frame_address(0));
    own();
  };
  fibers_.prepare(t);
  threads_.push_back(std::move(made));
  if (running_ != nullptr) t.clock = running_->clock;
  computer& in = nodes_[node];
  in.threads.push_back(&t);
  in.ready.push({t.clock, t.number, &t});
  if (!in.busy_threads.empty()) ++in.busy_threads[t.core];
  set_horizon();
  return t;
}

void many_core::set_horizon() noexcept {
  const picoseconds earliest = here_->ready.earliest();
  // Where the slice ends no order within the node is to change, so only once all of it is there.
  horizon_ = earliest > slice_end_ || earliest == never ? slice_end_ : earliest + lead;
  if (running_ != nullptr && !running_->is_handling) horizon_ = std::min(horizon_, running_->interrupt_at);
}

void many_core::enter(virtual_thread& next) noexcept {
  running_ = &next;
  set_horizon();
}

/// Lets whoever is behind run first: another node, or else a thread of this one.
void many_core::reschedule() {
  virtual_thread& me = *running_;
  queue& ready = here_->ready;
  if (std::min(ready.earliest(), me.clock) > slice_end_) return suspend();
  const queue::entry own{me.clock, me.number, &me};
  const queue::entry next = ready.empty() ? own : ready.exchange(own);
  enter(*next.thread);
  if (next.thread != &me) fibers_.switch_to(*next.thread);
  if (me.interrupt_at <= me.clock && !me.is_handling) handle_interrupt();
}

inline void many_core::keep_lead() {
  while (running_->clock > horizon_) [[unlikely]]
    reschedule();
}

// Nodes and their order.

picoseconds many_core::earliest_thread(const computer& of) noexcept {
  const picoseconds ready = of.ready.earliest();
  return of.suspended == nullptr ? ready : std::min(ready, of.suspended->clock);
}

picoseconds many_core::earliest_of(std::uint32_t node) const noexcept {
  const picoseconds thread = earliest_thread(nodes_[node]);
  return network_ ? std::min(thread, network_->next_access(node)) : thread;
}

/// Lets other nodes run. Then the calling thread goes on, as if nothing had been.
void many_core::suspend() {
  virtual_thread& me = *running_;
  here_->suspended = &me;
  virtual_thread& next = next_of_all_nodes();
  enter(next);
  if (&next != &me) fibers_.switch_to(next);
}

void many_core::set_window() noexcept {
  if (nodes_.size() == 1) return;  // all there is happens here
  const picoseconds others = clocks_.earliest();
  window_end_ = others == never ? never : others + network_->lookahead();
  window_end_ = std::min(window_end_, network_->next_access(static_cast<std::uint32_t>(here_ - nodes_.data())));
  // Nobody is to go on before one who gets an answer earlier.
  slice_end_ = here_->awaited > 0 || others == never ? window_end_ : std::max(window_end_, others + slice);
}

/// Takes out who goes on when the running thread does not.
inline many_core::virtual_thread& many_core::next_ready() {
  queue& ready = here_->ready;
  if (ready.empty() || ready.earliest() > slice_end_) [[unlikely]]
    return next_of_all_nodes();
  return *ready.pop().thread;
}

/// The same, once this node is to wait for others, or has nobody.
many_core::virtual_thread& many_core::next_of_all_nodes() {
  const auto left = static_cast<std::uint32_t>(here_ - nodes_.data());
  clocks_.set(left, earliest_of(left));
  for (;;) {
    if (clocks_.earliest() == never) {
      fail("filch: all virtual workers wait for each other at " + std::to_string(running_->clock / 1000) +
           " ns of virtual time; the simulated program is deadlocked");
    }
    const std::uint32_t first = clocks_.first();
    here_ = &nodes_[first];
    if (network_ && network_->next_access(first) <= earliest_thread(*here_)) {
      const interconnect::performed done = network_->perform_next(first);
      if (done.caller != nullptr) {
        auto& caller = static_cast<virtual_thread&>(*done.caller);
        caller.answer = done.before;
        --nodes_[caller.node].awaited;
        resume(caller, done.back_at);
        clocks_.set(caller.node, earliest_of(caller.node));
      }
      clocks_.set(first, earliest_of(first));
      continue;
    }
    clocks_.set(first, never);
    set_window();
    // Its threads have not run for long. From the real memory they come faster together than one after the other.
    for (const virtual_thread* const t : here_->threads) prefetch(t, sizeof *t);
    for (const virtual_thread* const t : here_->threads) fiber_set::prefetch_stack(*t);
    if (here_->suspended != nullptr) return *std::exchange(here_->suspended, nullptr);
    return *here_->ready.pop().thread;
  }
}

void many_core::handle_interrupt() {
  virtual_thread& me = *running_;
  const picoseconds rest = std::max<picoseconds>(0, std::exchange(me.goes_on_at, 0) - me.clock);
  me.interrupt_at = never;
  me.is_handling = true;
  set_horizon();
  handler()();
  me.is_handling = false;
  me.clock += rest;
  set_horizon();
}

fiber* many_core::current_thread() { return running_; }

bool many_core::interrupt(fiber& whom) {
  auto& t = static_cast<virtual_thread&>(whom);
  wait_turn();
  running_->clock += signal_call_;
  if (t.has_ended) return false;
  // A thread that is blocked is in the scheduler's own code, and would only be told so.
  if (&t == running_ || t.is_waiting || t.interrupt_at != never) return true;
  t.interrupt_at = running_->clock + signal_latency_;
  if (t.clock > t.interrupt_at && !t.is_handling) {
    t.goes_on_at = std::exchange(t.clock, t.interrupt_at);
    here_->ready.remove(t);
    here_->ready.push({t.clock, t.number, &t});
    set_horizon();
  }
  return true;
}

/// Afterwards no thread of this node that could go on is behind this one.
void many_core::wait_turn() {
  const virtual_thread& me = *running_;
  while (!here_->ready.empty() && here_->ready.first().before({me.clock, me.number, nullptr})) reschedule();
}

/// The calling thread stops until somebody resumes it.
void many_core::block() {
  virtual_thread& me = *running_;
  me.is_waiting = true;
  if (!here_->busy_threads.empty()) --here_->busy_threads[me.core];
  virtual_thread& next = next_ready();
  enter(next);
  if (&next != &me) fibers_.switch_to(next);
}

/// The same, or until it is that late.
void many_core::block_until(picoseconds when) {
  virtual_thread& me = *running_;
  me.is_waiting = true;
  me.is_timed = true;
  if (!here_->busy_threads.empty()) --here_->busy_threads[me.core];
  here_->ready.push({when, me.number, &me});
  virtual_thread& next = next_ready();
  enter(next);
  if (&next != &me) fibers_.switch_to(next);
  me.is_timed = false;
  if (!me.is_waiting) return;  // resumed
  me.is_waiting = false;
  if (!here_->busy_threads.empty()) ++here_->busy_threads[me.core];
  me.clock = std::max(me.clock, when);
  set_horizon();
}

void many_core::resume(virtual_thread& t, picoseconds at) {
  computer& in = nodes_[t.node];
  t.is_waiting = false;
  t.clock = std::max(t.clock, at);
  in.ready.push({t.clock, t.number, &t});
  if (!in.busy_threads.empty()) ++in.busy_threads[t.core];
  set_horizon();
}

void many_core::end_thread() {
  virtual_thread& me = *running_;
  me.has_ended = true;
  if (me.joiner != nullptr) resume(*me.joiner, me.clock);
  block();
  std::abort();
}

// Takes its strings for itself: the frames are abandoned, and nothing of theirs is freed later.
void many_core::fail(std::string message) {
  // Not by an exception: hardly a frame between here and the program around may be left by one.
  error_ = std::make_exception_ptr(std::runtime_error(message));
  std::string().swap(message);
  leave();
}

void many_core::fail_shared(std::uint16_t other, std::string where) {
  const auto [first, second] = std::minmax(running_->node, other);
  std::string message = "filch: places " + std::to_string(first) + " and " + std::to_string(second) +
                        " share memory: place " + std::to_string(running_->node) + " writes to a line that place " +
                        std::to_string(other) + " has used, at " + where +
                        "; let each place have its own data, and send messages";
  std::string().swap(where);
  fail(std::move(message));
}

fiber* many_core::start(std::function<void()> body) {
  return &add_thread(with_end(std::move(body)), running_->node, next_processor(*here_));
}

fiber* many_core::start_on(int processor, std::function<void()> body) {
  here_->is_placed = true;
  return &add_thread(with_end(std::move(body)), running_->node, static_cast<std::uint32_t>(processor));
}

std::function<void()> many_core::with_end(std::function<void()> body) {
  return [this, own = std::move(body)] {
    own();
    end_thread();
  };
}

int many_core::move_to(int processor) {
  here_->is_placed = true;
  virtual_thread& me = *running_;
  const std::uint32_t before = std::exchange(me.processor, static_cast<std::uint32_t>(processor));
  if (!here_->busy_threads.empty()) --here_->busy_threads[me.core];
  me.core = core_of(me.processor);
  if (!here_->busy_threads.empty()) ++here_->busy_threads[me.core];
  return static_cast<int>(before);
}

void many_core::join(fiber& ended) {
  auto& t = static_cast<virtual_thread&>(ended);
  wait_turn();
  if (!t.has_ended) {
    t.joiner = running_;
    block();
  }
  running_->clock = std::max(running_->clock, t.clock);
}

// Memory.

/// The calling core loads the line.
inline void many_core::read_line(const void* at, bool is_relaxed) {
  keep_lead();
  cache_line& line = lines_.line_at(at);
  virtual_thread& me = *running_;
  if (line.users != me.alone) [[unlikely]] {
    line.users.add_reader(me.node);
    if (line.users.first != me.node) {
      // As if each core of this node had a copy: nobody writes there any more.
      if (!is_relaxed) me.clock += lines_.hit();
      return;
    }
  }
  if (coherence::may_read(line, me.core)) [[likely]] {
    // A relaxed load of a line that is there waits for nothing and nothing waits for it.
    if (!is_relaxed) me.clock += lines_.hit();
    return;
  }
  // Another copy of a clean line changes nothing for those who have one: only the lead matters, as for a hit.
  if (line.owner != cache_line::nobody) wait_turn();
  if (!coherence::may_read(line, me.core)) me.clock = lines_.load(line, me.core, me.clock);
}

/// The calling core gets the line alone. `is_atomic`: and waits until what it wrote before is visible.
inline void many_core::write_line(const void* at, bool is_atomic, const site& from) {
  keep_lead();
  cache_line& line = lines_.line_at(at);
  virtual_thread& me = *running_;
  if (line.users != me.alone) [[unlikely]] {
    const std::uint16_t other = line.users.add_writer(me.node);
    if (other != line_users::nobody) {
      fail_shared(other, std::string(from.file_name()) + ":" + std::to_string(from.line()));
    }
  }
  if (!coherence::may_write(line, me.core)) [[unlikely]] {
    wait_turn();
  }
  if (coherence::may_write(line, me.core)) {
    if (is_atomic) me.clock = std::max(me.clock, me.stores_done) + lines_.atomic_extra();
    me.clock += lines_.hit();
    return;
  }
  if (is_atomic) {
    me.clock = lines_.own(line, me.core, std::max(me.clock, me.stores_done), true);
  } else if (coherence::may_read(line, me.core)) {
    // Only the permission is missing: the store waits for it in the store buffer, and the core goes on.
    me.stores_done = std::max(me.stores_done, lines_.own(line, me.core, me.clock, false));
    me.clock += lines_.hit();
  } else {
    // Whoever stores to a line that it does not have uses the rest of it as well.
    me.clock = lines_.own(line, me.core, me.clock, false);
  }
}

void many_core::begin(word& at) {
  if (running_ != nullptr) coherence::create(lines_.line_at(&at), running_->core, lines_.cores(), running_->alone);
}

word many_core::load(word& at, std::memory_order order, const site& /*from*/) {
  if (running_ != nullptr) read_line(&at, order == std::memory_order_relaxed);
  return at;
}

void many_core::store(word& at, word value, std::memory_order order, const site& from) {
  if (running_ != nullptr) write_line(&at, order == std::memory_order_seq_cst, from);
  at = value;
}

word many_core::modify(word& at, modification by, word operand, std::memory_order /*order*/, const site& from) {
  if (running_ != nullptr) write_line(&at, true, from);
  const word before = at;
  at = by(before, operand);
  return before;
}

bool many_core::compare_exchange(word& at, word& expected, word desired, exchange_orders /*orders*/, bool /*weak*/,
                                 const site& from) {
  if (running_ != nullptr) write_line(&at, true, from);
  if (at != expected) {
    expected = at;
    return false;
  }
  at = desired;
  return true;
}

void many_core::forget(const void* at, std::size_t bytes) {
  lines_.forget(at, bytes);
  if (nodes_.size() > 1) touched_.forget(at, bytes);
  if (running_ != nullptr) {
    if (here_->data != nullptr) here_->data->forget(at, bytes);
    return;
  }
  for (const computer& each : nodes_) {
    if (each.data != nullptr) each.data->forget(at, bytes);
  }
}

void many_core::allocated(const void* at, std::size_t bytes) {
  if (running_ == nullptr || nodes_.size() == 1) return;
  const line_users own = running_->alone;
  lines_.renew(at, bytes, own);
  touched_.visit(at, bytes, [own](line_users& users) {
    if (users != own) users = {};
  });
}

// Waiting.

std::int64_t many_core::now_ns() { return running_ == nullptr ? last_clock_ / 1000 : running_->clock / 1000; }

void many_core::pause() { running_->clock += spin_; }

void many_core::yield() {
  running_->clock += spin_;
  wait_turn();
}

void many_core::park(parker& where, std::int64_t deadline_ns) {
  write_line(&where, true);
  if (!where.token) {
    where.sleeper = running_;
    running_->clock += park_;
    if (deadline_ns == forever) {
      block();
    } else {
      block_until(std::max(running_->clock, deadline_ns * 1000) + wake_latency_);
      if (where.sleeper == running_) where.sleeper = nullptr;
    }
  }
  where.token = false;
}

void many_core::unpark(parker& whose) {
  write_line(&whose, true);
  if (whose.sleeper == nullptr) {
    whose.token = true;
    return;
  }
  auto& sleeper = static_cast<virtual_thread&>(*std::exchange(whose.sleeper, nullptr));
  running_->clock += wake_call_;
  if (sleeper.is_timed) here_->ready.remove(sleeper);
  resume(sleeper, running_->clock + wake_latency_);
}

void many_core::lock(mutex& which) {
  if (running_ == nullptr) return;
  write_line(&which, true);
  if (which.holder == nullptr) {
    which.holder = running_;
    return;
  }
  mutex_waiters_.push_back({&which, running_});
  block();
  write_line(&which, true);
}

void many_core::unlock(mutex& which) {
  if (running_ == nullptr) return;
  write_line(&which, false);
  const auto waiter = std::find_if(mutex_waiters_.begin(), mutex_waiters_.end(),
                                   [&](const mutex_waiter& each) { return each.wanted == &which; });
  if (waiter == mutex_waiters_.end()) {
    which.holder = nullptr;
    return;
  }
  virtual_thread& next = *waiter->thread;
  mutex_waiters_.erase(waiter);
  which.holder = &next;
  resume(next, running_->clock);
}

std::uint64_t many_core::seed(std::uint64_t stream) {
  const std::uint64_t node = running_ == nullptr ? 0 : running_->node;
  // 0 would be no seed for a shift register.
  return mix(seed_ + 0x9e3779b97f4a7c15 * ((node << 32) + stream + 1)) | 1;
}

int many_core::processors() { return machine_.hardware_threads(); }

std::vector<hardware_thread> many_core::hardware() {
  const auto cores_per_socket = static_cast<std::uint32_t>(machine_.cores_per_socket);
  std::vector<hardware_thread> all;
  for (int processor = 0; processor < machine_.hardware_threads(); ++processor) {
    const std::uint32_t core = core_of(static_cast<std::uint32_t>(processor));
    const std::uint32_t socket = core / cores_per_socket;
    all.push_back({processor, {core, socket, socket}});
  }
  return all;
}

// The program's own work.

/// How much slower a core's threads are for sharing it.
double many_core::slowdown(std::uint32_t core) const noexcept {
  const double busy = here_->busy_threads[core];
  if (busy <= 1) return 1;
  const double throughput = 1 + (machine_.core_throughput - 1) * (busy - 1) / (machine_.threads_per_core - 1);
  return busy / throughput;
}

void many_core::charge(double ns) {
  if (running_ == nullptr) return;
  charged_ns_ += ns;
  keep_lead();
  running_->clock += from_ns(here_->busy_threads.empty() ? ns : ns * slowdown(running_->core));
  keep_lead();  // here, not at what comes after it: an interrupt finds the thread in the middle of this work
}

void many_core::touch(const void* at, std::size_t bytes, bool writes) {
  if (running_ == nullptr || bytes == 0) return;
  keep_lead();
  virtual_thread& me = *running_;
  if (nodes_.size() > 1) {
    const auto* const begin = static_cast<const std::byte*>(at);
    const std::size_t before = reinterpret_cast<std::uintptr_t>(at) % line_bytes;
    for (std::size_t i = 0; i < before + bytes; i += line_bytes) {
      line_users& users = touched_.at(begin - before + i);
      if (users == me.alone) continue;
      if (!writes) {
        users.add_reader(me.node);
      } else if (const std::uint16_t other = users.add_writer(me.node); other != line_users::nobody) {
        fail_shared(other, "filch::vm::touch");
      }
    }
    if (here_->data == nullptr) here_->data = std::make_unique<data_memory>(machine_);
  }
  me.clock = here_->data->touch(me.core, at, bytes, writes, me.clock);
  keep_lead();  // as above
}

double many_core::price(const char* work) {
  if (std::strcmp(work, "spawn") == 0) return machine_.runtime.spawn_ns;
  const auto found = machine_.work.find(work);
  if (found == machine_.work.end()) {
    throw std::invalid_argument("filch: machine '" + machine_.name + "' has no price for '" + work + "'; add \"" +
                                work + "_ns\" to \"work\" in its file");
  }
  return found->second;
}

// The network.

int many_core::nodes() { return static_cast<int>(nodes_.size()); }

int many_core::node() { return running_ == nullptr ? 0 : running_->node; }

/// For those who send: others hear of it later than any of them has come.
interconnect& many_core::enter_network() {
  if (!network_) {
    fail("filch: machine '" + machine_.name +
         "' has no network; add the group \"network\" to its file, or use another machine such as edison");
  }
  keep_lead();
  wait_turn();
  return *network_;
}

/// For those who look: afterwards all that other nodes can have said to the calling thread has been said.
interconnect& many_core::look_at_network() {
  interconnect& network = enter_network();
  while (running_->clock > window_end_) {
    suspend();
    wait_turn();
  }
  return network;
}

/// That node has something to do before it comes so far, which the calling thread may hear of.
void many_core::access_begun(std::uint32_t node) {
  clocks_.set(node, earliest_of(node));
  set_window();
  set_horizon();
}

word many_core::wait_for_answer(std::uint32_t node) {
  const virtual_thread& me = *running_;
  ++here_->awaited;
  access_begun(node);
  block();
  return me.answer;
}

std::uint64_t many_core::send(int to, std::vector<std::byte>&& bytes, bool wants_receipt) {
  interconnect& network = enter_network();
  virtual_thread& me = *running_;
  me.clock += network.send_overhead();
  return network.send(me.node, static_cast<std::uint32_t>(to), std::move(bytes), wants_receipt, me.clock);
}

std::optional<world::arrival> many_core::receive() {
  interconnect& network = look_at_network();
  virtual_thread& me = *running_;
  std::optional<arrival> arrived = network.receive(me.node, me.clock);
  me.clock += arrived ? network.receive_overhead() : network.poll();
  return arrived;
}

bool many_core::was_received(std::uint64_t number) {
  interconnect& network = look_at_network();
  virtual_thread& me = *running_;
  const bool is_known = network.was_received(me.node, number, me.clock);
  me.clock += network.poll();
  return is_known;
}

/// A word of the calling thread's node is memory that it has in its cache.
word& many_core::own_word(std::size_t which, picoseconds cost) {
  interconnect& network = look_at_network();
  virtual_thread& me = *running_;
  me.clock += cost;
  return network.word_at(me.node, which);
}

word many_core::load_at(int node, std::size_t which) {
  const auto there = static_cast<std::uint32_t>(node);
  if (there == running_->node) return own_word(which, lines_.hit());
  interconnect& network = enter_network();
  virtual_thread& me = *running_;
  network.begin_load(me.node, there, which, me, me.clock);
  return wait_for_answer(there);
}

void many_core::store_at(int node, std::size_t which, word value) {
  const auto there = static_cast<std::uint32_t>(node);
  if (there == running_->node) {
    own_word(which, lines_.hit()) = value;
    return;
  }
  interconnect& network = enter_network();
  virtual_thread& me = *running_;
  me.clock += network.send_overhead();
  network.begin_store(me.node, there, which, value, me.clock);
  access_begun(there);
}

word many_core::compare_exchange_at(int node, std::size_t which, word expected, word desired) {
  const auto there = static_cast<std::uint32_t>(node);
  if (there == running_->node) {
    word& own = own_word(which, lines_.hit() + lines_.atomic_extra());
    const word before = own;
    if (before == expected) own = desired;
    return before;
  }
  interconnect& network = enter_network();
  virtual_thread& me = *running_;
  network.begin_compare_exchange(me.node, there, which, expected, desired, me, me.clock);
  return wait_for_answer(there);
}

}  // namespace filch::platform::vm
