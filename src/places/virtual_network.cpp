#include "places/virtual_network.hpp"

#include <cstring>
#include <utility>

#include "vm/world.hpp"

namespace filch::detail::places {
namespace {

using platform::vm::word;
using platform::vm::world;

/// Which word of a node is what. They begin as 0.
enum board_word : std::size_t { load_word, lock_word, thief_word };  // thief: the place + 1

class virtual_board final : public load_board {
 public:
  explicit virtual_board(world& w) : world_(w), place_(w.node()) {}

  void publish(int load) override { world_.store_at(place_, load_word, static_cast<word>(load)); }
  std::optional<int> read(int place) override { return static_cast<int>(world_.load_at(place, load_word)); }

  std::optional<bool> try_lock(int place) override { return world_.compare_exchange_at(place, lock_word, 0, 1) == 0; }
  void set_thief(int place) override { world_.store_at(place, thief_word, static_cast<word>(place_) + 1); }
  // Arrives after what set_thief() has sent.
  void unlock(int place) override { world_.store_at(place, lock_word, 0); }
  int thief() override { return static_cast<int>(world_.load_at(place_, thief_word)) - 1; }
  void clear_thief() override { world_.store_at(place_, thief_word, 0); }

 private:
  static_assert(nobody == -1);
  world& world_;
  int place_;
};

/// What goes before the contents over a real network; here behind them, so that those need not move.
struct envelope {
  message_kind kind;
  std::uint8_t channel;
  std::uint32_t finish;
};

class virtual_network final : public network {
 public:
  virtual_network(world& w, int place) : world_(w), place_(place), board_(w) {}

  [[nodiscard]] int place() const noexcept override { return place_; }
  [[nodiscard]] int places() const noexcept override { return world_.nodes(); }

  void send(int to, message&& m) override { world_.send(to, sealed(std::move(m)), false); }
  receipt send_with_receipt(int to, message&& m) override { return world_.send(to, sealed(std::move(m)), true); }
  bool has_arrived(receipt of) override { return world_.was_received(of); }

  bool receive(message& into) override {
    auto arrived = world_.receive();
    if (!arrived) return false;
    into.from = arrived->from;
    into.contents = std::move(arrived->bytes);
    envelope e;
    const auto at = into.contents.end() - sizeof e;
    std::memcpy(&e, &*at, sizeof e);
    into.contents.erase(at, into.contents.end());
    into.kind = e.kind;
    into.channel = e.channel;
    into.finish = e.finish;
    return true;
  }

  load_board& board() noexcept override { return board_; }

 private:
  [[nodiscard]] static std::vector<std::byte> sealed(message&& m) {
    const envelope e{m.kind, m.channel, m.finish};
    message_writer(m).add(e);
    return std::move(m.contents);
  }

  world& world_;
  int place_;
  virtual_board board_;
};

}  // namespace

std::unique_ptr<network> connect_virtual_network() {
  world& w = *world::current();
  return std::make_unique<virtual_network>(w, w.node());
}

}  // namespace filch::detail::places
