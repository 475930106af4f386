// The many-core machine: a world in which time is virtual and memory has a price. Discrete-event simulation of as many
// cores as a machine file says; docs/simulation.md has the model and its limits.
//
// Each virtual thread runs on a hardware thread of its own and has its own clock. The thread that runs goes on until it
// wants a line that it does not hold, or leads the next thread by more than 100 ns; then whoever is behind runs first.
// So operations on lines in dispute happen in the order of virtual time, and whatever else happens is off by at most
// the lead. Memory is sequentially consistent: finding missing orders is the explorer's work, not this world's.
//
// There may be several such computers, the nodes of a larger one, connected by a network. They share no line: to let
// them is an error. A node is simulated until one of its threads wants to know something that another node may still say
// (they are as far as it less the network's lookahead), or leads the others by a slice. So its threads stay in the
// simulator's own caches; and what happens in a node is the same whatever other nodes do, but for what they say.
//
// Invariants
//  1. The clock of a thread never goes back, but for one that is interrupted in the middle of work whose end it has
//     reached already: nothing has followed that work yet, so it handles the interrupt first and has that end later.
//  2. A line changes hands only by the thread with the least clock of all of its node that could go on.
//  3. A thread looks at the network only when all nodes have come as far as it, less the lookahead. While one waits for
//     another node's answer, no thread of its node that is later goes on.
//  4. Nothing depends on the numeric value of an address, on real time, or on chance outside of the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vm/fiber.hpp"
#include "vm/machine/coherence.hpp"
#include "vm/machine/data_memory.hpp"
#include "vm/machine/interconnect.hpp"
#include "vm/machine/line_users.hpp"
#include "vm/machine/machine_file.hpp"
#include "vm/machine/node_clocks.hpp"
#include "vm/machine/page_table.hpp"
#include "vm/machine/run_queue.hpp"
#include "vm/machine/virtual_time.hpp"
#include "vm/world.hpp"

namespace filch::platform::vm {

class many_core final : public world {
 public:
  /// A world for programs of at most `threads` threads. Hardware thread h is one of core h modulo the number of cores, so
  /// the first ones of all cores come first. Thread i runs on hardware thread i, unless somebody says otherwise; when
  /// somebody has, further ones run where no other thread does. All that holds for each of the nodes.
  /// @throws std::invalid_argument when there are several nodes and the machine has no network.
  many_core(const machine_description& machine, std::uint64_t seed, int threads, int nodes = 1);
  ~many_core() override;

  /// Runs a program as thread 0 of each node, from time 0 on, until all have returned. @throws what one of them throws;
  /// std::runtime_error when all threads wait for each other, when there are too many of them, or when nodes share memory.
  void run(std::function<void()> program);

  /// Of the calling thread, or of the one that ended last, in seconds.
  [[nodiscard]] double now_s() const noexcept;
  /// Hardware thread of the calling thread, in its node.
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
  /// All that was charged, by whom ever.
  [[nodiscard]] double charged_ns() const noexcept { return charged_ns_; }
  void touch(const void* at, std::size_t bytes, bool writes) override;
  [[nodiscard]] double price(const char* work) override;
  void allocated(const void* at, std::size_t bytes) override;
  [[nodiscard]] int nodes() override;
  [[nodiscard]] int node() override;
  std::uint64_t send(int to, std::vector<std::byte>&& bytes, bool wants_receipt) override;
  [[nodiscard]] std::optional<arrival> receive() override;
  [[nodiscard]] bool was_received(std::uint64_t number) override;
  [[nodiscard]] word load_at(int node, std::size_t which) override;
  void store_at(int node, std::size_t which, word value) override;
  word compare_exchange_at(int node, std::size_t which, word expected, word desired) override;

 private:
  struct virtual_thread;
  using queue = run_queue<virtual_thread>;
  struct mutex_waiter {
    const mutex* wanted;
    virtual_thread* thread;
  };

  /// One of the computers.
  struct computer {
    queue ready;                              ///< all that could go on, but for the one that runs
    virtual_thread* suspended = nullptr;      ///< goes on first: it ran when others had to
    std::vector<virtual_thread*> threads;     ///< in the order in which they were started
    std::uint32_t awaited = 0;                ///< answers that its threads wait for
    std::vector<std::uint32_t> busy_threads;  ///< by core; only where cores have several
    std::unique_ptr<data_memory> data;        ///< null: nobody has touched any
    bool is_placed = false;                   ///< somebody has said where a thread is to run
  };

  virtual_thread& add_thread(std::function<void()> body, std::uint32_t node, std::uint32_t processor);
  [[nodiscard]] std::uint32_t next_processor(const computer& in) const;
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
  void end_program();
  [[noreturn]] void leave();
  [[noreturn]] void fail(std::string message);
  void enter(virtual_thread& next) noexcept;
  void set_horizon() noexcept;
  void suspend();
  [[nodiscard]] virtual_thread& next_ready();
  [[nodiscard]] virtual_thread& next_of_all_nodes();
  [[nodiscard]] static picoseconds earliest_thread(const computer& of) noexcept;
  [[nodiscard]] picoseconds earliest_of(std::uint32_t node) const noexcept;
  void set_window() noexcept;
  interconnect& enter_network();
  interconnect& look_at_network();
  void access_begun(std::uint32_t node);
  word wait_for_answer(std::uint32_t node);
  word& own_word(std::size_t which, picoseconds cost);
  void read_line(const void* at, bool is_relaxed);
  void write_line(const void* at, bool is_atomic, const site& from = site::current());
  [[noreturn]] void fail_shared(std::uint16_t other, std::string where);
  [[nodiscard]] double slowdown(std::uint32_t core) const noexcept;

  machine_description machine_;
  std::uint64_t seed_;
  coherence lines_;
  picoseconds spin_;  // one turn of a waiting loop, besides its memory operations
  picoseconds park_;
  picoseconds wake_call_;
  picoseconds wake_latency_;
  picoseconds signal_call_;
  picoseconds signal_latency_;
  std::vector<std::unique_ptr<virtual_thread>> threads_;
  std::vector<computer> nodes_;
  std::optional<interconnect> network_;
  page_table<line_users, 6> touched_;  // of the data; only with several nodes
  node_clocks clocks_;                 // of the nodes but for the one that runs
  computer* here_;                     // the one that runs
  picoseconds window_end_ = never;     // until then no other node can have anything to say to it
  picoseconds slice_end_ = never;      // until then it goes on, unless it wants to know
  picoseconds horizon_ = never;        // how far the thread that runs may go before others have to
  std::size_t programs_ = 0;           // that have not returned
  double charged_ns_ = 0;
  virtual_thread* running_ = nullptr;  // null: the program around
  std::deque<mutex_waiter> mutex_waiters_;
  std::exception_ptr error_;
  picoseconds last_clock_ = 0;
  fiber_set fibers_;
  presence presence_;  // last: what is destroyed after it is destroyed outside of any world
};

}  // namespace filch::platform::vm
