#include "vm/explorer/strategy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace filch::platform::vm {
namespace {

/// splitmix64: small, and good enough to choose among interleavings.
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t n) noexcept { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }
  /// True once in 2^bits times.
  bool one_in_power(unsigned bits) noexcept { return (next() >> 20 & ((std::uint64_t{1} << bits) - 1)) == 0; }

 private:
  std::uint64_t state_;
};

/// What random_walk and pct share: seeds, and how often old values and rare events are chosen, which differs from run
/// to run because some bugs need many of them and some need all others to behave.
class seeded : public strategy {
 public:
  seeded(std::string_view name, std::uint64_t seed, bool once) : name_(name), next_(seed), once_(once) {}

  bool begin() final {
    if (once_ && begun_) return false;
    begun_ = true;
    seed_ = next_;
    next_ = random_bits(next_).next();
    random_ = random_bits(seed_);
    stale_ = 1 + random_.below(4);
    rare_ = 3 + random_.below(5);
    jump_ = 1 + random_.below(5);
    short_ = 1 + random_.below(6);
    begin_run();
    return true;
  }
  std::uint32_t pick(std::uint32_t n) final { return random_.one_in_power(stale_) ? 1 + random_.below(n - 1) : 0; }
  bool happens(rarity what) final {
    if (what == rarity::clock_jump || what == rarity::interrupt) return random_.one_in_power(jump_);
    if (what == rarity::short_pause) return random_.one_in_power(short_);
    return random_.one_in_power(rare_);
  }
  std::string seed() const final { return name_ + ":" + std::to_string(seed_); }

 protected:
  virtual void begin_run() = 0;
  random_bits& random() noexcept { return random_; }

 private:
  std::string name_;
  std::uint64_t next_;
  std::uint64_t seed_ = 0;
  random_bits random_{0};
  unsigned stale_ = 2;
  unsigned rare_ = 5;
  unsigned jump_ = 3;
  unsigned short_ = 3;
  bool once_;
  bool begun_ = false;
};

class random_walk final : public seeded {
 public:
  using seeded::seeded;
  std::size_t next(std::span<const std::uint32_t> ready, std::size_t current) override {
    if (current < ready.size() && !random().one_in_power(switch_)) return current;
    return random().below(static_cast<std::uint32_t>(ready.size()));
  }

 private:
  void begin_run() override { switch_ = random().below(5); }
  unsigned switch_ = 1;  ///< another thread once in 2^switch_ steps
};

class pct final : public seeded {
 public:
  using seeded::seeded;
  std::size_t next(std::span<const std::uint32_t> ready, std::size_t current) override {
    ++step_;
    if (current < ready.size()) {
      for (std::size_t i = 0; i < changes_.size(); ++i) {
        if (changes_[i] == step_) priority(ready[current]) = i;
      }
    }
    return static_cast<std::size_t>(
        std::max_element(ready.begin(), ready.end(), [&](auto a, auto b) { return priority(a) < priority(b); }) -
        ready.begin());
  }

 private:
  static constexpr std::size_t depth = 4;  ///< orderings that a bug may need, minus one

  void begin_run() override {
    // Run lengths come out of the seed as well, or a seed alone would not repeat its run.
    const std::uint32_t length = 1U << (5 + random().below(7));
    for (auto& change : changes_) change = 1 + random().below(length);
    priorities_.clear();
    step_ = 0;
  }
  std::uint64_t& priority(std::uint32_t fiber) {
    while (priorities_.size() <= fiber) priorities_.push_back(depth + (random().next() >> 8));
    return priorities_[fiber];
  }

  std::array<std::uint64_t, depth> changes_{};
  std::vector<std::uint64_t> priorities_;
  std::uint64_t step_ = 0;
};

/// Depth first over all choices: those of the last run up to the last one that has an untried alternative.
class exhaustive final : public strategy {
 public:
  struct choice {
    std::uint32_t chosen;
    std::uint32_t of;
  };

  exhaustive() = default;
  explicit exhaustive(std::vector<choice> replayed) : path_(std::move(replayed)), once_(true) {}

  bool begin() override {
    if (begun_) {
      while (!path_.empty() && path_.back().chosen + 1 >= path_.back().of) path_.pop_back();
      if (once_ || path_.empty()) return false;
      ++path_.back().chosen;
    }
    begun_ = true;
    at_ = 0;
    preemptions_ = 0;
    old_values_ = 0;
    rare_ = 0;
    last_ = 0;
    return true;
  }
  std::size_t next(std::span<const std::uint32_t> ready, std::size_t current) override {
    const auto n = static_cast<std::uint32_t>(ready.size());
    if (current == ready.size()) {
      // In turn, or two threads that wake each other would keep all others waiting for ever.
      const auto after = std::upper_bound(ready.begin(), ready.end(), last_) - ready.begin();
      const std::size_t chosen = (static_cast<std::size_t>(after) + (n == 1 ? 0 : decide(n))) % n;
      last_ = ready[chosen];
      return chosen;
    }
    if (n == 1 || preemptions_ == most_preemptions) return current;
    // 0 stands for going on, so that the first run of all is the one without preemptions.
    const std::uint32_t chosen = decide(n);
    if (chosen == 0) return current;
    ++preemptions_;
    return chosen <= current ? chosen - 1 : chosen;
  }
  std::uint32_t pick(std::uint32_t n) override {
    if (old_values_ == most_old_values) return 0;
    const std::uint32_t chosen = decide(n);
    if (chosen != 0) ++old_values_;
    return chosen;
  }
  bool happens(rarity what) override {
    // Early stores are rare events of a protocol, but what a litmus test is about; the others cost too many runs.
    if (what != rarity::early_store || rare_ == most_rare) return false;
    const bool yes = decide(2) == 1;
    if (yes) ++rare_;
    return yes;
  }
  std::string seed() const override {
    std::string text = "exhaustive:";
    for (std::size_t i = 0; i < at_; ++i) {
      if (i != 0) text.push_back('.');
      text += std::to_string(path_[i].chosen);
    }
    return text;
  }

 private:
  static constexpr int most_preemptions = 3;
  static constexpr int most_old_values = 3;
  static constexpr int most_rare = 2;

  std::uint32_t decide(std::uint32_t n) {
    if (at_ == path_.size()) path_.push_back({0, n});
    path_[at_].of = n;
    return std::min(path_[at_++].chosen, n - 1);
  }

  std::vector<choice> path_;
  std::size_t at_ = 0;
  int preemptions_ = 0;
  int old_values_ = 0;
  int rare_ = 0;
  std::uint32_t last_ = 0;  ///< who went on when another could not
  bool once_ = false;
  bool begun_ = false;
};

template <class Number>
Number number_in(std::string_view text, std::string_view seed) {
  Number value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) {
    throw std::invalid_argument("filch: '" + std::string(seed) +
                                "' is no seed of an exploration; use the one that a failure printed");
  }
  return value;
}

std::unique_ptr<strategy> make(std::string_view name, std::uint64_t seed, bool once) {
  if (name == "random") return std::make_unique<random_walk>(name, seed, once);
  if (name == "pct") return std::make_unique<pct>(name, seed, once);
  return nullptr;
}

}  // namespace

std::unique_ptr<strategy> make_strategy(std::string_view name, std::uint64_t seed) {
  if (auto made = make(name, seed, false)) return made;
  if (name == "exhaustive") return std::make_unique<exhaustive>();
  throw std::invalid_argument("filch: strategy '" + std::string(name) +
                              "' is unknown; use one of random, pct, exhaustive");
}

std::unique_ptr<strategy> replay(std::string_view seed) {
  const std::size_t colon = seed.find(':');
  const std::string_view name = seed.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? std::string_view{} : seed.substr(colon + 1);
  if (name == "exhaustive") {
    std::vector<exhaustive::choice> path;
    while (!rest.empty()) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      path.push_back({number_in<std::uint32_t>(rest.substr(0, dot), seed), 0});
      rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    return std::make_unique<exhaustive>(std::move(path));
  }
  if (auto made = make(name, number_in<std::uint64_t>(rest, seed), true)) return made;
  throw std::invalid_argument("filch: '" + std::string(seed) +
                              "' is no seed of an exploration; use the one that a failure printed");
}

}  // namespace filch::platform::vm
