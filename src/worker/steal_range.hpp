// Steal ranges (Shiina and Taura 2019, section 4.3): who may take from whom, while and after a search.
//
// Each construct that a searching worker divides has one: the workers of its range, and the steal range of the construct
// around it. It becomes active when the first of these workers is through with its share of the search; then they may
// take tasks from each other. Of several active ones around each other the outermost counts.
//
// All of it is about where work goes, and nothing about what is safe: who looks at an old state takes a task from
// farther away, or finds none.
//
// Thread safety: any thread that has a reference may call anything but begin_phase(), begin_active_phase() and deactivate(), which
// are the owner's.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <filch/detail/worker_core.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

class steal_range_ref;

class steal_range {
 public:
  /// Of a scheduler as a whole: active unless its own caller's root searches.
  explicit steal_range(worker_range of) noexcept : steal_range(of, nullptr) { begin_active_phase(); }
  /// Takes over the caller's reference to the one around it. Null: there is no memory.
  [[nodiscard]] static steal_range* make(worker_range of, steal_range_ref& around) noexcept;
  steal_range(const steal_range&) = delete;
  steal_range& operator=(const steal_range&) = delete;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }  // [SR1]
  void drop_reference() noexcept;

  [[nodiscard]] bool is_root() const noexcept { return around_ == nullptr; }
  /// The one around it; the root: itself.
  [[nodiscard]] steal_range& around() noexcept { return around_ != nullptr ? *around_ : *this; }

  /// A number for each time that it is not active, or is.
  enum class phase : std::uint64_t {};
  // [SR4] seq_cst: in the last look before a sleep, after its announcement ([SL14]). Whoever has activated it looks who is asleep
  // afterwards ([SL15]). One of the two sees the other. No exploration catches this: after its last pause, a few steps before it
  // announces, the sleeper is shown everything.
  [[nodiscard]] phase now() const noexcept { return phase{phase_.load(std::memory_order_seq_cst)}; }
  [[nodiscard]] static bool is_active(phase p) noexcept { return static_cast<std::uint64_t>(p) % 2 != 0; }
  [[nodiscard]] bool is_active() const noexcept { return is_active(now()); }
  /// It becomes active, unless it is, or has ended since that phase. Was it this call?
  bool activate(phase since) noexcept {
    auto before = static_cast<std::uint64_t>(since);
    // [SR4] seq_cst: as there.
    return !is_active(since) &&
           phase_.compare_exchange_strong(before, before + 1, std::memory_order_seq_cst, std::memory_order_relaxed);
  }
  /// The owner: a construct begins or ends. Many look at the phase, so this waits for none of them.
  void begin_phase() noexcept {
    latest_ += 2;
    phase_.store(latest_, std::memory_order_relaxed);
  }
  /// The same, and it is active at once.
  void begin_active_phase() noexcept {
    latest_ += 2;
    // [SR4] seq_cst: as activate()'s.
    phase_.store(latest_ + 1, std::memory_order_seq_cst);
  }
  /// The same, and it is not active from now on. Was it?
  bool deactivate() noexcept {
    // Nobody else ends a phase in which it is active. Who activates it just now is overlooked: then it is active again when
    // the next worker is through with its share.
    const bool was_active = is_active(phase{phase_.load(std::memory_order_relaxed)});
    begin_phase();
    return was_active;
  }
  /// The outermost active one of this and those around it; null: none is.
  [[nodiscard]] steal_range* outermost_active() noexcept;

  /// Is it what a construct with that range has?
  [[nodiscard]] bool is_of(worker_range range) const noexcept;

  // Numbers of the first worker, and of the last.
  [[nodiscard]] std::uint32_t right() const noexcept { return right_; }
  [[nodiscard]] std::uint32_t left() const noexcept { return left_; }
  [[nodiscard]] bool contains(std::uint32_t worker) const noexcept { return right_ <= worker && worker <= left_; }
  /// May who is in the range take what a worker of it has been given for itself, and what that has made? And the rest?
  [[nodiscard]] bool has_migrated_work(std::uint32_t of) const noexcept { return of != right_ || is_root(); }
  [[nodiscard]] bool has_local_work(std::uint32_t of) const noexcept { return of != left_ || !left_is_shared_; }

 private:
  /// `around`: with a reference of its own.
  steal_range(worker_range of, steal_range* around) noexcept;

  const std::uint32_t right_;
  const std::uint32_t left_;
  const bool left_is_shared_;  ///< the last worker has a place in the next range as well
  steal_range* const around_;
  std::uint64_t latest_ = 0;                  ///< the owner's: the phase when it began the latest, not active
  platform::atomic<std::uint64_t> phase_{0};  ///< odd: active
  // Not on the line that idle workers look at: those who divide count references all the time.
  alignas(64) platform::atomic<std::uint32_t> references_{1};
};

/// A counted reference, or none.
class steal_range_ref {
 public:
  steal_range_ref() = default;
  /// One more.
  explicit steal_range_ref(steal_range* to) noexcept : to_(to) {
    if (to_ != nullptr) to_->add_reference();
  }
  /// Takes over the one that make() has returned.
  [[nodiscard]] static steal_range_ref owner_of(steal_range* made) noexcept {
    steal_range_ref ref;
    ref.to_ = made;
    return ref;
  }
  steal_range_ref(steal_range_ref&& from) noexcept : to_(std::exchange(from.to_, nullptr)) {}
  steal_range_ref& operator=(steal_range_ref&& from) noexcept {
    std::swap(to_, from.to_);
    return *this;
  }
  steal_range_ref(const steal_range_ref&) = delete;
  steal_range_ref& operator=(const steal_range_ref&) = delete;
  ~steal_range_ref() {
    if (to_ != nullptr) to_->drop_reference();
  }

  /// The reference is counted still, for whoever has taken it over.
  void release() noexcept { to_ = nullptr; }

  [[nodiscard]] steal_range* get() const noexcept { return to_; }
  steal_range* operator->() const noexcept { return to_; }
  explicit operator bool() const noexcept { return to_ != nullptr; }

 private:
  steal_range* to_ = nullptr;
};

/// Where a worker is among steal ranges. The worker's own.
///
/// References are counted on lines that many workers write. So none is counted or dropped while others wait: a range comes
/// with the reference of whoever gives it, and what is left is kept until forget().
class steal_place {
 public:
  /// The range of the construct that the worker is in, or was in last. Null: nobody steals by ranges.
  [[nodiscard]] steal_range* get() const noexcept { return current_; }

  void enter(steal_range_ref range) noexcept {
    left_ = std::exchange(kept_, std::move(range));
    current_ = kept_.get();
  }
  /// A construct of that range begins inside of the current one. False: there is no memory.
  bool begin(worker_range of) noexcept;
  /// It ends: the current one is that around it.
  void end() noexcept {
    current_->begin_phase();
    current_ = &current_->around();
  }
  /// The worker has nothing else to do.
  void forget() noexcept {
    if (left_) left_ = {};
  }

  /// What the worker was given to divide has ended. Who waits for it may go on before the current range becomes active.
  void note_end() noexcept {
    if (current_ != nullptr) ended_in_ = current_->now();
  }
  /// The phase of the current range when that was, if it was.
  [[nodiscard]] std::optional<steal_range::phase> take_end() noexcept { return std::exchange(ended_in_, std::nullopt); }

 private:
  steal_range* current_ = nullptr;
  steal_range_ref kept_;  ///< it, or one inside of it that has ended
  steal_range_ref left_;  ///< one that was kept before
  std::optional<steal_range::phase> ended_in_;
};

}  // namespace filch::detail
