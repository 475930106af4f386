#include "scheduler/watched.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "worker/worker.hpp"

namespace filch::detail {
namespace {

std::uint64_t address(const void* of) noexcept { return std::bit_cast<std::uintptr_t>(of); }

}  // namespace

watched::scheduler watched_parts(const team& everybody, const configuration& chosen) noexcept {
  const worker& w = everybody[0];
  const auto field = [&](const void* at) { return static_cast<std::int32_t>(address(at) - address(&w)); };
  watched::scheduler all{};
  all.workers = static_cast<std::uint64_t>(chosen.workers);
  all.all = address(everybody.address_of_most());
  all.team = address(everybody.address_of_workers());
  all.fields = {.steals = field(&w.counted.steals),
                .failed_steals = field(&w.counted.failed_steals),
                .leaps = field(&w.counted.leaps),
                .idle = field(w.counted.idle.address()),
                .waiting = field(w.counted.waiting.address()),
                .sleep_state = field(&w.sleep.state),
                .dozing = field(&w.wait.dozing),
                .attached = field(&w.attached)};
  chosen.policy.copy(all.policy, sizeof all.policy - 1);
  return all;
}

}  // namespace filch::detail
