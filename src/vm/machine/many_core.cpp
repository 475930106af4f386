#include "vm/machine/many_core.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "platform/parker.hpp"
#include "platform/thread.hpp"

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

/// splitmix64's finaliser.
constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

struct many_core::virtual_thread : fiber {
  std::uint32_t processor = 0;  ///< hardware thread
  std::uint32_t core = 0;       ///< that one's
  picoseconds clock = 0;
  picoseconds stores_done = 0;  ///< when the last buffered store is visible to others
  bool is_waiting = false;      ///< blocked: neither running nor, unless it waits for a time, in the queue
  bool is_timed = false;        ///< it waits for a time
  bool is_handling = false;     ///< an interrupt
  picoseconds interrupt_at = never;
  picoseconds goes_on_at = 0;  ///< interrupted before that, it has to do the rest afterwards
  bool has_ended = false;
  virtual_thread* joiner = nullptr;
  const std::byte* stack_top = nullptr;
};

many_core::many_core(const machine_description& machine, std::uint64_t seed, int threads)
    : machine_(machine),
      seed_(seed),
      lines_(machine),
      data_(machine),
      spin_(from_ns(machine.system.pause_ns + cycles_per_spin / machine.clock_ghz)),
      park_(from_ns(machine.system.park_ns)),
      wake_call_(from_ns(machine.system.wake_call_ns)),
      wake_latency_(from_ns(machine.system.wake_latency_ns)),
      signal_call_(from_ns(machine.system.signal_call_ns)),
      signal_latency_(from_ns(machine.system.signal_latency_ns)),
      fibers_(static_cast<std::size_t>(threads), stack_bytes),
      presence_(*this) {
  if (machine.threads_per_core > 1) busy_threads_.resize(static_cast<std::size_t>(machine.cores()));
}

many_core::~many_core() = default;

void many_core::run(std::function<void()> program) {
  virtual_thread& first = add_thread(
      [this, program = std::move(program)] {
        try {
          program();
        } catch (...) {
          error_ = std::current_exception();
        }
        running_->has_ended = true;
        last_clock_ = running_->clock;
        running_ = nullptr;
        fibers_.leave();
      },
      0);
  ready_.pop();  // nobody else is there yet
  enter(first);
  fibers_.run(first);
  if (const int overflowed = fibers_.overflowed(); overflowed >= 0) {
    throw std::runtime_error("filch: the stack of virtual worker " + std::to_string(overflowed) +
                             " has overflowed; simulate a smaller size");
  }
  ready_.clear();
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
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
std::uint32_t many_core::next_processor() const {
  const auto most = static_cast<std::uint32_t>(machine_.hardware_threads());
  const std::uint32_t own = static_cast<std::uint32_t>(threads_.size()) % most;
  if (!is_placed_) return own;
  std::vector<bool> used(most);
  for (const auto& each : threads_) {
    if (!each->has_ended) used[each->processor] = true;
  }
  const auto free = std::find(used.begin(), used.end(), false);
  return free == used.end() ? own : static_cast<std::uint32_t>(free - used.begin());
}

many_core::virtual_thread& many_core::add_thread(std::function<void()> body, std::uint32_t processor) {
  auto made = std::make_unique<virtual_thread>();
  virtual_thread& t = *made;
  t.number = static_cast<std::uint32_t>(threads_.size());
  t.processor = processor;
  t.core = core_of(processor);
  t.body = [&t, own = std::move(body)] {
    t.stack_top = static_cast<const std::byte*>(__builtin_frame_address(0));
    own();
  };
  fibers_.prepare(t);
  threads_.push_back(std::move(made));
  if (running_ != nullptr) t.clock = running_->clock;
  ready_.push({t.clock, t.number, &t});
  if (!busy_threads_.empty()) ++busy_threads_[t.core];
  set_horizon();
  return t;
}

void many_core::set_horizon() noexcept {
  const picoseconds earliest = ready_.earliest();
  horizon_ = earliest == never ? never : earliest + lead;
  if (running_ != nullptr && !running_->is_handling) horizon_ = std::min(horizon_, running_->interrupt_at);
}

void many_core::enter(virtual_thread& next) noexcept {
  running_ = &next;
  set_horizon();
}

/// Lets whoever is behind run first.
void many_core::reschedule() {
  virtual_thread& me = *running_;
  const queue::entry next = ready_.exchange({me.clock, me.number, &me});
  enter(*next.thread);
  if (next.thread != &me) fibers_.switch_to(*next.thread);
  if (me.interrupt_at <= me.clock && !me.is_handling) handle_interrupt();
}

inline void many_core::keep_lead() {
  while (running_->clock > horizon_) [[unlikely]]
    reschedule();
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
    ready_.remove(t);
    ready_.push({t.clock, t.number, &t});
    set_horizon();
  }
  return true;
}

/// Afterwards no thread that could go on is behind this one.
void many_core::wait_turn() {
  const virtual_thread& me = *running_;
  while (!ready_.empty() && ready_.first().before({me.clock, me.number, nullptr})) reschedule();
}

/// The calling thread stops until somebody resumes it.
void many_core::block() {
  virtual_thread& me = *running_;
  me.is_waiting = true;
  if (!busy_threads_.empty()) --busy_threads_[me.core];
  if (ready_.empty()) {
    fail("filch: all virtual workers wait for each other at " + std::to_string(me.clock / 1000) +
         " ns of virtual time; the simulated program is deadlocked");
  }
  const queue::entry next = ready_.pop();
  enter(*next.thread);
  fibers_.switch_to(*next.thread);
}

/// The same, or until it is that late.
void many_core::block_until(picoseconds when) {
  virtual_thread& me = *running_;
  me.is_waiting = true;
  me.is_timed = true;
  if (!busy_threads_.empty()) --busy_threads_[me.core];
  ready_.push({when, me.number, &me});
  const queue::entry next = ready_.pop();
  enter(*next.thread);
  if (next.thread != &me) fibers_.switch_to(*next.thread);
  me.is_timed = false;
  if (!me.is_waiting) return;  // resumed
  me.is_waiting = false;
  if (!busy_threads_.empty()) ++busy_threads_[me.core];
  me.clock = std::max(me.clock, when);
  set_horizon();
}

void many_core::resume(virtual_thread& t, picoseconds at) {
  t.is_waiting = false;
  t.clock = std::max(t.clock, at);
  ready_.push({t.clock, t.number, &t});
  if (!busy_threads_.empty()) ++busy_threads_[t.core];
  set_horizon();
}

void many_core::end_thread() {
  virtual_thread& me = *running_;
  me.has_ended = true;
  if (me.joiner != nullptr) resume(*me.joiner, me.clock);
  block();
  std::abort();
}

void many_core::fail(std::string message) {
  // Not by an exception: hardly a frame between here and the program around may be left by one.
  error_ = std::make_exception_ptr(std::runtime_error(message));
  std::string().swap(message);  // the frames are abandoned, and nothing of theirs is freed later
  last_clock_ = running_->clock;
  running_ = nullptr;
  fibers_.leave();
}

fiber* many_core::start(std::function<void()> body) { return &add_thread(with_end(std::move(body)), next_processor()); }

fiber* many_core::start_on(int processor, std::function<void()> body) {
  is_placed_ = true;
  return &add_thread(with_end(std::move(body)), static_cast<std::uint32_t>(processor));
}

std::function<void()> many_core::with_end(std::function<void()> body) {
  return [this, own = std::move(body)] {
    own();
    end_thread();
  };
}

int many_core::move_to(int processor) {
  is_placed_ = true;
  virtual_thread& me = *running_;
  const std::uint32_t before = std::exchange(me.processor, static_cast<std::uint32_t>(processor));
  if (!busy_threads_.empty()) --busy_threads_[me.core];
  me.core = core_of(me.processor);
  if (!busy_threads_.empty()) ++busy_threads_[me.core];
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
inline void many_core::write_line(const void* at, bool is_atomic) {
  keep_lead();
  cache_line& line = lines_.line_at(at);
  virtual_thread& me = *running_;
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
  if (running_ != nullptr) coherence::create(lines_.line_at(&at), running_->core, lines_.cores());
}

word many_core::load(word& at, std::memory_order order, const site& /*from*/) {
  if (running_ != nullptr) read_line(&at, order == std::memory_order_relaxed);
  return at;
}

void many_core::store(word& at, word value, std::memory_order order, const site& /*from*/) {
  if (running_ != nullptr) write_line(&at, order == std::memory_order_seq_cst);
  at = value;
}

word many_core::modify(word& at, modification by, word operand, std::memory_order /*order*/, const site& /*from*/) {
  if (running_ != nullptr) write_line(&at, true);
  const word before = at;
  at = by(before, operand);
  return before;
}

bool many_core::compare_exchange(word& at, word& expected, word desired, exchange_orders /*orders*/, bool /*weak*/,
                                 const site& /*from*/) {
  if (running_ != nullptr) write_line(&at, true);
  if (at != expected) {
    expected = at;
    return false;
  }
  at = desired;
  return true;
}

void many_core::forget(const void* at, std::size_t bytes) {
  lines_.forget(at, bytes);
  data_.forget(at, bytes);
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
  if (sleeper.is_timed) ready_.remove(sleeper);
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
  return mix(seed_ + 0x9e3779b97f4a7c15 * (stream + 1)) | 1;  // 0 would be no seed for a shift register
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
  const double busy = busy_threads_[core];
  if (busy <= 1) return 1;
  const double throughput = 1 + (machine_.core_throughput - 1) * (busy - 1) / (machine_.threads_per_core - 1);
  return busy / throughput;
}

void many_core::charge(double ns) {
  if (running_ == nullptr) return;
  keep_lead();
  running_->clock += from_ns(busy_threads_.empty() ? ns : ns * slowdown(running_->core));
  keep_lead();  // here, not at what comes after it: an interrupt finds the thread in the middle of this work
}

void many_core::touch(const void* at, std::size_t bytes, bool writes) {
  if (running_ == nullptr || bytes == 0) return;
  keep_lead();
  running_->clock = data_.touch(running_->core, at, bytes, writes, running_->clock);
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

}  // namespace filch::platform::vm
