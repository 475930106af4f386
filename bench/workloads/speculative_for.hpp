// Runs a greedy serial loop in parallel, with the result that the serial loop has: deterministic reservations
// (Blelloch, Fineman, Gibbons, Shun, PPoPP 2012), as PBBS runs matching and independent sets.
//
// In each round a prefix of the iterations that are not finished tries: first all of them reserve what they need, then
// those that got it commit. The rest tries again in the next round, before iterations that are newer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace filch::bench {

/// Iterations 0 .. n - 1 of `step`, at most n / rounds + 1 in one round, so there are at least about so many rounds:
///   std::uint8_t step.reserve(i)      nobody commits meanwhile; 0: the iteration is finished
///   bool step.commit(i, reserved)     nobody reserves meanwhile; with what reserve returned; whether it is finished
/// The oldest iteration of a round must finish. Which ones try in a round depends on n and the step alone.
/// @return how often an iteration tried.
template <class Peer, class Step>
std::uint64_t speculative_for(std::uint32_t n, std::uint32_t rounds, Step& step) {
  constexpr std::uint32_t block = 256;  // iterations that commit together, and are counted when they have to try again
  const std::uint32_t longest = n / rounds + 1;
  std::vector<std::uint32_t> iterations(longest);
  std::vector<std::uint32_t> next(longest);
  std::vector<std::uint8_t> reserved(longest);
  std::vector<std::uint32_t> place(longest / block + 1);  // of a block's iterations that try again, in the next round
  std::uint64_t tries = 0;
  std::uint32_t again = 0;  // the first of this round's iterations have tried before
  for (std::uint32_t finished = 0; finished < n;) {
    const std::uint32_t size = std::min(longest, n - finished);
    Peer::for_each_index(size, [&, finished, again](std::uint64_t k) {
      const auto slot = static_cast<std::uint32_t>(k);
      if (slot >= again) iterations[slot] = finished + slot;
      reserved[slot] = step.reserve(iterations[slot]);
    });
    const std::uint32_t blocks = (size + block - 1) / block;
    Peer::for_each_index(blocks, [&, size](std::uint64_t k) {
      const auto begin = static_cast<std::uint32_t>(k) * block;
      const std::uint32_t end = std::min(size, begin + block);
      std::uint32_t kept = begin;
      for (std::uint32_t slot = begin; slot != end; ++slot) {
        const std::uint32_t iteration = iterations[slot];
        if (reserved[slot] != 0 && !step.commit(iteration, reserved[slot])) iterations[kept++] = iteration;
      }
      place[k] = kept - begin;
    });
    again = 0;
    for (std::uint32_t k = 0; k < blocks; ++k) again += std::exchange(place[k], again);
    Peer::for_each_index(blocks, [&, blocks, again](std::uint64_t k) {
      const std::uint32_t end = k + 1 == blocks ? again : place[k + 1];
      std::copy_n(iterations.data() + k * block, end - place[k], next.data() + place[k]);
    });
    iterations.swap(next);
    tries += size;
    finished += size - again;
  }
  return tries;
}

}  // namespace filch::bench
