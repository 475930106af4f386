// How a place that has run out of tasks gets some from others, and gives them some: docs/protocols/success-only.md. One
// protocol for all places, chosen by name (protocol_table.hpp).
//
// Thread safety: one thread at a time, the one that looks at the network.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <filch/places_options.hpp>

#include "places/export_rings.hpp"
#include "places/network.hpp"
#include "places/record_pools.hpp"

namespace filch::detail::places {

/// What a protocol sees of its place, and may do there.
class steal_site {
 public:
  /// The options, with defaults filled in.
  struct settings {
    int tasks_per_shipment;
    int threshold;
    int idle_workers;
    int attempts;
    bool cyclic_steals;
  };

  steal_site(network& over, export_rings& rings, record_pools& records, const settings& chosen,
             std::function<int()> idle_workers, std::uint64_t seed);

  [[nodiscard]] int me() const noexcept { return net_.place(); }
  [[nodiscard]] int places() const noexcept { return net_.places(); }
  [[nodiscard]] const settings& chosen() const noexcept { return chosen_; }
  [[nodiscard]] load_board& board() noexcept { return net_.board(); }
  /// Do idle workers here find nothing?
  [[nodiscard]] bool wants_tasks() const { return idle_() >= chosen_.idle_workers && rings_.tasks() == 0; }
  [[nodiscard]] bool has_idle_workers() const { return idle_() != 0; }
  /// Shows the others how many tasks are here, or that this place looks for some itself.
  void publish(bool is_hunting);
  /// Sends that place tasks, as many as fit into a shipment, while no worker here is idle. False: none.
  [[nodiscard]] bool ship(int to);
  /// Says that there are none.
  void refuse(int to);
  /// Sends a message without contents.
  void ask(int whom, message_kind what);
  [[nodiscard]] receipt ask_with_receipt(int whom, message_kind what);
  [[nodiscard]] bool has_arrived(receipt of) { return net_.has_arrived(of); }
  /// A place, this one included.
  [[nodiscard]] int draw() noexcept;

  /// Number of the finish_spmd.
  std::uint32_t finish = 0;
  filch::places::counts counted;

 private:
  network& net_;
  export_rings& rings_;
  record_pools& records_;
  const settings chosen_;
  const std::function<int()> idle_;
  std::uint64_t seed_;
  int shown_ = 0;
};

class steal_protocol {
 public:
  steal_protocol() = default;
  virtual ~steal_protocol() = default;
  steal_protocol(const steal_protocol&) = delete;
  steal_protocol& operator=(const steal_protocol&) = delete;

  /// In a finish: serves thieves, and goes on with its own search. `rested`: the caller has napped since the last time.
  virtual void step(bool rested) = 0;
  /// Outside of a finish: answers thieves that came too late for the last one, and wait.
  virtual void step_outside() {}
  /// A thief asks; in the finish that this place is in.
  virtual void asked(int thief, message_kind how) = 0;
  /// Tasks of this place's finish have come, and are in its rings.
  virtual void tasks_came(int from) = 0;
  /// The victim has none.
  virtual void refused(int /*by*/) {}
  /// The finish is over: forgets thieves and victims, and asks nobody any more. False: somebody owes this place an
  /// answer; call it again.
  [[nodiscard]] virtual bool end() = 0;
};

/// Draws between two looks at what has come.
inline constexpr int draws_at_once = 16;

/// A search for victims whose load says that they have tasks: Algorithm 1. As many draws as there are places, and a few
/// at each nap of a place that has found nobody.
class victim_search {
 public:
  /// Begins the search, or goes on with it, unless the place wants no tasks any more.
  [[nodiscard]] bool goes_on(steal_site& at, bool rested);
  /// One draw less is left. False: none was.
  [[nodiscard]] bool may_draw() noexcept {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  void end() noexcept { is_on_ = false; }
  [[nodiscard]] bool is_on() const noexcept { return is_on_; }

 private:
  static constexpr int draws_at_nap = 4;

  bool is_on_ = false;
  int left_ = 0;
};

/// Thieves that wait for tasks of this place, in the order in which they came.
class thief_queue {
 public:
  explicit thief_queue(steal_site& at) noexcept : at_(at) {}
  void add(int thief) { waiting_.push_back(thief); }
  [[nodiscard]] bool has(int place) const noexcept;
  /// Gives each tasks, as long as there are some to spare: Algorithm 2, lines 3 to 9.
  void serve();
  /// The finish is over.
  void drop() noexcept;

 private:
  steal_site& at_;
  std::vector<int> waiting_;
};

}  // namespace filch::detail::places
