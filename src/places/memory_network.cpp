#include "places/memory_network.hpp"

#include <mutex>
#include <utility>

namespace filch::detail::places {

class memory_board final : public load_board {
 public:
  memory_board(memory_hub& hub, int place) noexcept : hub_(hub), place_(place) {}

  // [MN1] relaxed: a hint; what follows from it is asked for by messages.
  void publish(int load) override { own().load.store(load, std::memory_order_relaxed); }
  std::optional<int> read(int place) override { return at(place).load.load(std::memory_order_relaxed); }  // [MN1]

  std::optional<bool> try_lock(int place) override {
    // [MN2] acquire: that the thief before has been answered, [MN3].
    return at(place).lock.exchange(1, std::memory_order_acquire) == 0;
  }
  // [MN4] relaxed: the victim answers by a message, whatever it sees when.
  void set_thief(int place) override { at(place).thief.store(place_, std::memory_order_relaxed); }
  void unlock(int place) override { at(place).lock.store(0, std::memory_order_release); }  // [MN3] release: see [MN2]
  int thief() override { return own().thief.load(std::memory_order_relaxed); }             // [MN4]
  void clear_thief() override { own().thief.store(nobody, std::memory_order_relaxed); }    // [MN4]

 private:
  [[nodiscard]] memory_hub::end_point& at(int place) const { return *hub_.ends_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] memory_hub::end_point& own() const { return at(place_); }

  memory_hub& hub_;
  int place_;
};

class memory_network final : public network {
 public:
  memory_network(memory_hub& hub, int place) noexcept : hub_(hub), place_(place), board_(hub, place) {}

  [[nodiscard]] int place() const noexcept override { return place_; }
  [[nodiscard]] int places() const noexcept override { return static_cast<int>(hub_.ends_.size()); }

  void send(int to, message&& m) override { put(to, std::move(m), 0); }

  receipt send_with_receipt(int to, message&& m) override {
    asked_ = to;
    put(to, std::move(m), ++newest_);
    return newest_;
  }

  bool has_arrived(receipt of) override {
    // [MN5] relaxed: nothing follows from it but that the thief goes on.
    return at(asked_).received[static_cast<std::size_t>(place_)].load(std::memory_order_relaxed) >= of;
  }

  bool receive(message& into) override {
    memory_hub::end_point& own = at(place_);
    const std::lock_guard lock(own.mutex);
    const std::size_t n = own.from.size();
    for (std::size_t i = 0; i < n; ++i) {
      // Others have their turn first the next time.
      const std::size_t from = next_++ % n;
      auto& queue = own.from[from];
      if (queue.empty()) continue;
      into = std::move(queue.front().contents);
      if (queue.front().number != 0)
        own.received[from].store(queue.front().number, std::memory_order_relaxed);  // [MN5]
      queue.pop_front();
      return true;
    }
    return false;
  }

  load_board& board() noexcept override { return board_; }

 private:
  [[nodiscard]] memory_hub::end_point& at(int place) const { return *hub_.ends_[static_cast<std::size_t>(place)]; }

  void put(int to, message&& m, receipt number) {
    m.from = place_;
    memory_hub::end_point& there = at(to);
    const std::lock_guard lock(there.mutex);
    there.from[static_cast<std::size_t>(place_)].push_back({std::move(m), number});
  }

  memory_hub& hub_;
  int place_;
  memory_board board_;
  receipt newest_ = 0;
  int asked_ = 0;
  std::size_t next_ = 0;
};

memory_hub::end_point::end_point(int places)
    : from(static_cast<std::size_t>(places)), received(static_cast<std::size_t>(places)) {}

memory_hub::memory_hub(int places) {
  for (int i = 0; i < places; ++i) ends_.push_back(std::make_unique<end_point>(places));
}

memory_hub::~memory_hub() = default;

std::unique_ptr<network> memory_hub::connect(int place) { return std::make_unique<memory_network>(*this, place); }

}  // namespace filch::detail::places
