// The virtual machine, seen from below: what every operation that leaves a virtual worker calls.
//
// The scheduler's sources are compiled against the headers in this folder in place of native ones. All virtual workers
// are fibers of one thread, so nothing here needs a lock. Which world they live in decides what an operation means: the
// explorer gives memory a history and looks for bugs; the many-core machine gives it a price. Outside of a world, in
// static initialisers and in the program around it, operations are plain.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <utility>
#include <vector>

#include "platform/placement.hpp"

namespace filch::platform {

class mutex;
class parker;

namespace vm {

/// Where in the sources an operation stands.
using site = std::source_location;

/// An atomic object of any type up to 64 bits: the value that is newest in its modification order.
using word = std::uint64_t;

/// What a read-modify-write makes of the value it reads.
using modification = word (*)(word before, word operand);

class fiber;

class world {
 public:
  world() = default;
  virtual ~world() = default;
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  // Atomic objects.
  /// `at` was constructed with the value it holds.
  virtual void begin(word& at) = 0;
  virtual word load(word& at, std::memory_order order, const site& from) = 0;
  virtual void store(word& at, word value, std::memory_order order, const site& from) = 0;
  virtual word modify(word& at, modification by, word operand, std::memory_order order, const site& from) = 0;
  struct exchange_orders {
    std::memory_order success;
    std::memory_order failure;
  };
  /// Like std::atomic's: `expected` receives what was read when it fails.
  virtual bool compare_exchange(word& at, word& expected, word desired, exchange_orders orders, bool weak,
                                const site& from) = 0;

  // Plain objects. Called before the access. Those of the owner and its handler are looked at by nobody else.
  virtual void read(const void* at, const site& from) = 0;
  virtual void write(const void* at, const site& from) = 0;
  virtual void read_local(const void* at, const site& from) = 0;
  virtual void write_local(const void* at, const site& from) = 0;
  /// The memory holds no objects any more.
  virtual void forget(const void* at, std::size_t bytes) = 0;

  // Time and threads.
  [[nodiscard]] virtual std::int64_t now_ns() = 0;
  /// About the same, larger than any that was told before.
  [[nodiscard]] std::uint64_t passed_tick() {
    return passed_ = std::max(passed_ + 1, static_cast<std::uint64_t>(now_ns()));
  }
  virtual void pause() = 0;
  virtual void yield() = 0;
  static constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();
  virtual void park(parker& where, std::int64_t deadline_ns) = 0;
  virtual void unpark(parker& whose) = 0;
  virtual void lock(mutex& which) = 0;
  virtual void unlock(mutex& which) = 0;
  virtual fiber* start(std::function<void()> body) = 0;
  /// The same, on that processor. A world without places has no use for it.
  virtual fiber* start_on(int /*processor*/, std::function<void()> body) { return start(std::move(body)); }
  /// The calling thread goes on on that processor. Returns which it was on before; -1: the world has no places.
  virtual int move_to(int /*processor*/) { return -1; }
  virtual void join(fiber& ended) = 0;
  [[nodiscard]] virtual fiber* current_thread() = 0;
  void handle_interrupts(void (*by)() noexcept) noexcept { handler_ = by; }
  /// The thread calls the handler at one of its next operations. False: it has ended.
  virtual bool interrupt(fiber& whom) = 0;
  [[nodiscard]] virtual std::uint64_t seed(std::uint64_t stream) = 0;
  [[nodiscard]] virtual int processors() = 0;
  /// All processors, by number, and what they share. Here: all of it.
  [[nodiscard]] virtual std::vector<hardware_thread> hardware() {
    std::vector<hardware_thread> all(static_cast<std::size_t>(processors()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i].processor = static_cast<int>(i);
    return all;
  }
  [[nodiscard]] virtual unsigned first_offers() { return 8; }
  [[nodiscard]] virtual std::uint64_t offer_rest_ticks() { return 625; }
  [[nodiscard]] virtual std::uint32_t taken_at_once(std::uint32_t wanted, std::uint32_t /*offered*/) { return wanted; }

  // The program's own work, for worlds in which it takes time.
  /// The caller has worked for that long.
  virtual void charge(double ns) = 0;
  /// The caller is going to read or write that memory.
  virtual void touch(const void* at, std::size_t bytes, bool writes) = 0;
  /// Price of one unit of the named work in ns; see the machine files.
  [[nodiscard]] virtual double price(const char* work) = 0;

  /// The program's heap has given out this memory; whoever had it before is done with it.
  virtual void allocated(const void* /*at*/, std::size_t /*bytes*/) {}

  // Nodes: computers of their own, which share no memory and are connected by a network. All of this is about the node of
  // the calling thread; threads are started on the node of whoever starts them. Here: one node, and no network.
  [[nodiscard]] virtual int nodes() { return 1; }
  [[nodiscard]] virtual int node() { return 0; }
  /// Messages of one pair of nodes arrive in order. Returns the message's number.
  virtual std::uint64_t send(int /*to*/, std::vector<std::byte>&& /*bytes*/, bool /*wants_receipt*/) { no_network(); }
  struct arrival {
    int from;
    std::vector<std::byte> bytes;
  };
  /// The next message that has come, if there is one.
  [[nodiscard]] virtual std::optional<arrival> receive() { no_network(); }
  /// Is it known here that this node's message of that number, of which it wanted a receipt, has been received?
  [[nodiscard]] virtual bool was_received(std::uint64_t /*number*/) { no_network(); }
  // One-sided: each node has words, numbered from 0, that all nodes reach; they begin as 0.
  [[nodiscard]] virtual word load_at(int /*node*/, std::size_t /*which*/) { no_network(); }
  /// Arrives like a message.
  virtual void store_at(int /*node*/, std::size_t /*which*/, word /*value*/) { no_network(); }
  /// Returns what the word held; if that was `expected`, it is `desired` now.
  virtual word compare_exchange_at(int /*node*/, std::size_t /*which*/, word /*expected*/, word /*desired*/) {
    no_network();
  }

  /// The world that exists, or null.
  [[nodiscard]] static world* current() noexcept { return place(); }

 protected:
  using interrupt_handler = void (*)() noexcept;
  [[nodiscard]] interrupt_handler handler() const noexcept { return handler_; }

  /// Makes a world the current one while it exists.
  class presence {
   public:
    explicit presence(world& w) noexcept : before_(place()) { place() = &w; }
    ~presence() { place() = before_; }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;

   private:
    world* before_;
  };

 private:
  [[noreturn]] static void no_network() {
    throw std::logic_error("filch: this virtual world has no network between nodes; use places of one process in it");
  }
  static world*& place() noexcept {
    static world* there = nullptr;
    return there;
  }

  interrupt_handler handler_ = nullptr;
  std::uint64_t passed_ = 0;
};

}  // namespace vm
}  // namespace filch::platform
