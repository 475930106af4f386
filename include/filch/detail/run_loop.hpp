// How a loop runs (for now by forking halves).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stop_token>

#include <filch/fork_join.hpp>
#include <filch/loop.hpp>

namespace filch::detail {

template <class Block>
void run_part(const Block& block, std::uint64_t low, std::uint64_t high, std::uint64_t grain) {
  if (high - low <= grain) {
    std::uint64_t at = low;
    block.run(low, high, at);
    return;
  }
  const std::uint64_t middle = low + (high - low) / 2;
  filch::fork_join([&] { run_part(block, low, middle, grain); }, [&] { run_part(block, middle, high, grain); });
}

template <class Block>
loop_status run_loop(const Block& block, splitting how, const std::stop_token* stop = nullptr) {
  if (stop != nullptr && stop->stop_requested()) return loop_status::stopped;
  const std::uint64_t n = block.size();
  if (n != 0) run_part(block, 0, n, std::max<std::uint64_t>({1, how.grain, n / 1024}));
  return loop_status::complete;
}

}  // namespace filch::detail
