// The explorer: runs a piece of concurrent code again and again, each time with other choices of who runs next and what
// loads read, until something is wrong.
//
// Wrong is: a check that fails, a data race on a plain object, an exception that leaves a thread, threads that wait for
// each other for ever, and a run that does not end. What was wrong is reported with the operations that led to it and a
// seed that repeats the run.
//
// Every operation on an atomic object, on a mutex and on a parker is a point at which another thread may go on. There,
// and at each access to what an owner shares with its own handler, an interrupt of the thread may arrive. A
// thread in `pause` goes on when one of the objects changes that it has read since its last pause, or when nobody else
// can: then time passes.
//
// Nodes: the body of a run may go on at several nodes, which a network connects (at_each_node). Messages of one pair of
// nodes arrive in order, and each at any time; so those of different pairs in any order. All nodes have one memory, whose
// objects are checked for races: what one node has written another may use after a message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vm/explorer/memory_model.hpp"
#include "vm/explorer/mutation.hpp"
#include "vm/explorer/strategy.hpp"
#include "vm/fiber.hpp"
#include "vm/world.hpp"

namespace filch::platform::vm {

struct failure {
  std::string what;
  std::string seed;
  std::vector<std::string> story;  ///< the operations before it, one a line; empty unless asked for
};

/// Fails the exploration that the caller runs in unless `holds`.
void check(bool holds, const std::string& what);

/// Inside of an exploration, once: calls the body at so many nodes, and waits for all. The caller is node 0.
void at_each_node(int nodes, const std::function<void()>& body);

class explorer final : public world {
 public:
  struct bounds {
    std::uint64_t most_steps = 20'000;     ///< of one run; more are a failure
    std::uint32_t most_idle_rounds = 400;  ///< times that only pausing threads are left, without a store in between
    std::size_t stack_bytes = std::size_t{256} << 10;
  };

  explicit explorer(bounds limits);
  explorer() : explorer(bounds{}) {}
  ~explorer() override;

  /// Runs the body once with the choices of a strategy that has begun. `tell`: keep the story.
  std::optional<failure> run(const std::function<void()>& body, strategy& choices, bool tell = false);

  /// All further runs see this mutation of the program.
  void plant(const std::optional<mutation>& planted) { planted_ = planted; }
  /// Counts each operation that runs come across; null: no longer.
  void survey(survey_of_sites* into) noexcept { survey_ = into; }

  [[nodiscard]] std::uint64_t steps() const noexcept { return all_steps_; }  ///< scheduling points of all runs
  /// Of the last run: a number that differs, most likely, if any step of it does.
  [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
  [[noreturn]] void fail(const std::string& what);

  void begin(word& at) override;
  word load(word& at, std::memory_order order, const site& from) override;
  void store(word& at, word value, std::memory_order order, const site& from) override;
  word modify(word& at, modification by, word operand, std::memory_order order, const site& from) override;
  bool compare_exchange(word& at, word& expected, word desired, exchange_orders orders, bool weak,
                        const site& from) override;
  void read(const void* at, const site& from) override;
  void write(const void* at, const site& from) override;
  void read_local(const void* at, const site& from) override;
  void write_local(const void* at, const site& from) override;
  void forget(const void* at, std::size_t bytes) override;
  [[nodiscard]] std::int64_t now_ns() override;
  [[nodiscard]] unsigned first_offers() override { return choices_->happens(rarity::short_pause) ? 8 : 0; }
  [[nodiscard]] std::uint64_t offer_rest_ticks() override { return choices_->happens(rarity::short_pause) ? 8 : 0; }
  [[nodiscard]] std::uint32_t taken_at_once(std::uint32_t wanted, std::uint32_t offered) override {
    return offered > 1 && choices_->happens(rarity::short_pause) ? (offered + 1) / 2 : wanted;
  }
  void pause() override;
  void yield() override;
  void park(parker& where, std::int64_t deadline_ns) override;
  void unpark(parker& whose) override;
  void lock(mutex& which) override;
  void unlock(mutex& which) override;
  fiber* start(std::function<void()> body) override;
  void join(fiber& ended) override;
  [[nodiscard]] fiber* current_thread() override;
  bool interrupt(fiber& whom) override;
  [[nodiscard]] std::uint64_t seed(std::uint64_t stream) override;
  [[nodiscard]] int processors() override { return 16; }
  void charge(double /*ns*/) override {}
  void touch(const void* /*at*/, std::size_t /*bytes*/, bool /*writes*/) override {}
  [[nodiscard]] double price(const char* /*work*/) override { return 0; }

  void run_at_nodes(int nodes, const std::function<void()>& body);
  [[nodiscard]] int nodes() override { return static_cast<int>(nodes_.size()); }
  [[nodiscard]] int node() override;
  std::uint64_t send(int to, std::vector<std::byte>&& bytes, bool wants_receipt) override;
  [[nodiscard]] std::optional<arrival> receive() override;
  [[nodiscard]] bool was_received(std::uint64_t number) override;
  [[nodiscard]] word load_at(int node, std::size_t which) override;
  void store_at(int node, std::size_t which, word value) override;
  word compare_exchange_at(int node, std::size_t which, word expected, word desired) override;

 private:
  enum class state : std::uint8_t { ready, pausing, parked, locking, joining, ended };
  struct thread;
  struct step;
  struct letter {
    int from;
    std::uint64_t number;  ///< of all letters, in the order in which they were sent
    std::vector<std::byte> bytes;
    bool wants_receipt;
    memory_model::clock sent;
  };
  struct node_state {
    std::vector<std::deque<letter>> from;           ///< on their way to this node, by sender
    word mail = 0;                                  ///< changes when something is sent here: what pausing threads watch
    std::vector<std::uint64_t> received_elsewhere;  ///< letters from here that wanted a receipt, and have one
    std::array<word, 4> words{};                    ///< that all nodes reach
  };

  void make_nodes(int nodes);
  [[nodiscard]] word& word_at(int node, std::size_t which);

  [[nodiscard]] thread& self() noexcept;
  void end_thread();
  thread& make_thread(std::function<void()> body);
  /// A scheduling point: somebody else may go on.
  void point();
  /// An interrupt of the running thread may arrive.
  void take_interrupt();
  /// The running thread cannot go on until it is made ready.
  void block(state why);
  void make_ready(thread& t);
  void go_on_with(std::size_t position);
  /// It is later than the running thread thought. What has been on its way arrives now.
  void jump();
  void pass_time();
  void note(const char* what, const memory_model::outcome& did, std::memory_order order, const site& from);
  void watch(std::uint32_t object);
  void changed(std::uint32_t object);
  [[nodiscard]] std::string describe_threads() const;
  [[nodiscard]] std::vector<std::string> tell_story() const;

  bounds limits_;
  fiber_set fibers_;
  memory_model memory_;
  strategy* choices_ = nullptr;
  std::vector<std::unique_ptr<thread>> threads_;  ///< the first `alive_` belong to the current run
  std::size_t made_ = 0;
  std::size_t running_ = 0;  ///< threads that have not ended
  std::vector<std::uint32_t> ready_;
  std::optional<mutation> planted_;
  survey_of_sites* survey_ = nullptr;
  std::vector<step> story_;
  bool tell_ = false;
  std::optional<failure> failure_;
  std::int64_t now_ns_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t all_steps_ = 0;
  std::uint64_t digest_ = 0;
  std::uint32_t idle_rounds_ = 0;
  std::deque<node_state> nodes_;
  std::uint64_t letters_ = 0;
};

}  // namespace filch::platform::vm
