#include "places/termination.hpp"

#include <cstring>
#include <span>

namespace filch::detail::places {
namespace {

/// What a wave carries.
struct tally {
  std::uint64_t count = 0;
  carried_error error{};
};

std::vector<std::byte> to_bytes(const tally& t) {
  const auto bytes = std::as_bytes(std::span(&t, 1));
  return {bytes.begin(), bytes.end()};
}

tally from_bytes(std::span<const std::byte> bytes) {
  tally t;
  std::memcpy(&t, bytes.data(), sizeof t);
  return t;
}

void add(std::span<std::byte> first, std::span<const std::byte> second) {
  tally sum = from_bytes(first);
  const tally more = from_bytes(second);
  sum.count += more.count;
  sum.error.add(more.error);
  std::memcpy(first.data(), &sum, sizeof sum);
}

}  // namespace

task_counts::task_counts(std::size_t writers) : writers_(writers), each_(std::make_unique<counts[]>(writers)) {}

std::uint64_t task_counts::sum(platform::atomic<std::uint64_t> counts::* which) const noexcept {
  std::uint64_t all = 0;
  // [PT2] acquire: see [PT1]. What a task has made was counted before its end, by whoever has made it.
  for (std::size_t i = 0; i < writers_; ++i) all += (each_[i].*which).load(std::memory_order_acquire);
  return all;
}

bool termination::step(bool is_idle, const std::function<std::optional<place_error>()>& own) {
  if (phase_ == phase::working) {
    if (!is_idle) return false;
    waves_.contribute(to_bytes({.count = counts_.all_ended()}), add);
    phase_ = phase::ended_counted;
  }
  if (phase_ == phase::ended_counted) {
    const auto ended = waves_.result();
    if (!ended) return false;
    ended_ = from_bytes(*ended).count;
    tally made{.count = counts_.all_made()};
    if (const auto error = own()) made.error.set(*error);
    waves_.contribute(to_bytes(made), add);
    phase_ = phase::made_counted;
  }
  const auto result = waves_.result();
  if (!result) return false;
  phase_ = phase::working;
  const tally made = from_bytes(*result);
  if (made.count != ended_) return false;
  error_ = made.error.get();
  return true;
}

}  // namespace filch::detail::places
