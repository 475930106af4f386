// The many-core machine: a world in which time is virtual and memory has a price. Discrete-event simulation of as many
// cores as a machine file says; docs/simulation.md has the model and its limits.
//
// Each virtual thread runs on a hardware thread of its own and has its own clock. The thread that runs goes on until it
// wants a line that it does not hold, or leads the next thread by more than 100 ns; then whoever is behind runs first.
// So operations on lines in dispute happen in the order of virtual time, and whatever else happens is off by at most
// the lead. Memory is sequentially consistent: finding missing orders is the explorer's work, not this world's.
//
// Invariants
//  1. The clock of a thread never goes back, but for one that is interrupted in the middle of work whose end it has
//     reached already: nothing has followed that work yet, so it handles the interrupt first and has that end later.
//  2. A line changes hands only by the thread with the least clock of all that could go on.
//  3. Nothing depends on the numeric value of an address, on real time, or on chance outside of the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "vm/fiber.hpp"
#include "vm/machine/coherence.hpp"
#include "vm/machine/data_memory.hpp"
#include "vm/machine/machine_file.hpp"
#include "vm/machine/run_queue.hpp"
#include "vm/machine/virtual_time.hpp"
#include "vm/world.hpp"

namespace filch::platform::vm {

class many_core final : public world {
 public:
  /// A world for programs of at most `threads` threads. Hardware thread h is one of core h modulo the number of cores, so
  /// the first ones of all cores come first. Thread i runs on hardware thread i, unless somebody says otherwise; when
  /// somebody has, further ones run where no other thread does.
  many_core(const machine_description& machine, std::uint64_t seed, int threads);
  ~many_core() override;

  /// Runs a program as thread 0 until it returns. @throws what it throws; std::runtime_error when all threads wait for
  /// each other, or when there are too many of them.
  void run(std::function<void()> program);

  /// Of the calling thread, or of the one that ran last, in seconds.
  [[nodiscard]] double now_s() const noexcept;
  /// Hardware thread of the calling thread.
  [[nodiscard]] int processor() const noexcept;
  /// Bytes by which the calling thread's stack may still grow.
  [[nodiscard]] std::size_t stack_left() const noexcept;
  /// The world that exists, if it is of this kind.
  [[nodiscard]] static many_core* current() noexcept { return dynamic_cast<many_core*>(world::current()); }

  void begin(word& at) override;
  word load(word& at, std::memory_order order, const site& from) override;
  void store(word& at, word value, std::memory_order order, const site& from) override;
  word modify(word& at, modification by, word operand, std::memory_order order, const site& from) override;
  bool compare_exchange(word& at, word& expected, word desired, exchange_orders orders, bool weak,
                        const site& from) override;
  /// Private words of the fast path: their price is part of the runtime's constants.
  void read(const void* /*at*/, const site& /*from*/) override {}
  void write(const void* /*at*/, const site& /*from*/) override {}
  void read_local(const void* /*at*/, const site& /*from*/) override {}
  void write_local(const void* /*at*/, const site& /*from*/) override {}
  void forget(const void* at, std::size_t bytes) override;
  [[nodiscard]] std::int64_t now_ns() override;
  void pause() override;
  void yield() override;
  void park(parker& where, std::int64_t deadline_ns) override;
  void unpark(parker& whose) override;
  void lock(mutex& which) override;
  void unlock(mutex& which) override;
  fiber* start(std::function<void()> body) override;
  fiber* start_on(int processor, std::function<void()> body) override;
  int move_to(int processor) override;
  void join(fiber& ended) override;
  [[nodiscard]] fiber* current_thread() override;
  bool interrupt(fiber& whom) override;
  [[nodiscard]] std::uint64_t seed(std::uint64_t stream) override;
  [[nodiscard]] int processors() override;
  [[nodiscard]] std::vector<hardware_thread> hardware() override;
  void charge(double ns) override;
  void touch(const void* at, std::size_t bytes, bool writes) override;
  [[nodiscard]] double price(const char* work) override;

 private:
  struct virtual_thread;
  using queue = run_queue<virtual_thread>;
  struct mutex_waiter {
    const mutex* wanted;
    virtual_thread* thread;
  };

  virtual_thread& add_thread(std::function<void()> body, std::uint32_t processor);
  [[nodiscard]] std::uint32_t next_processor() const;
  [[nodiscard]] std::uint32_t core_of(std::uint32_t processor) const noexcept;
  void keep_lead();
  void wait_turn();
  void reschedule();
  void block();
  void block_until(picoseconds when);
  void handle_interrupt();
  void resume(virtual_thread& t, picoseconds at);
  [[nodiscard]] std::function<void()> with_end(std::function<void()> body);
  [[noreturn]] void end_thread();
  [[noreturn]] void fail(std::string message);
  void enter(virtual_thread& next) noexcept;
  void set_horizon() noexcept;
  void read_line(const void* at, bool is_relaxed);
  void write_line(const void* at, bool is_atomic);
  [[nodiscard]] double slowdown(std::uint32_t core) const noexcept;

  machine_description machine_;
  std::uint64_t seed_;
  coherence lines_;
  data_memory data_;
  picoseconds spin_;  // one turn of a waiting loop, besides its memory operations
  picoseconds park_;
  picoseconds wake_call_;
  picoseconds wake_latency_;
  picoseconds signal_call_;
  picoseconds signal_latency_;
  std::vector<std::unique_ptr<virtual_thread>> threads_;
  std::vector<std::uint32_t> busy_threads_;  // by core; only where cores have several
  bool is_placed_ = false;                   // somebody has said where a thread is to run
  queue ready_;                              // all that could go on, but for the one that runs
  picoseconds horizon_ = never;              // how far the one that runs may go before others have to
  virtual_thread* running_ = nullptr;        // null: the program around
  std::deque<mutex_waiter> mutex_waiters_;
  std::exception_ptr error_;
  picoseconds last_clock_ = 0;
  fiber_set fibers_;
  presence presence_;  // last: what is destroyed after it is destroyed outside of any world
};

}  // namespace filch::platform::vm
