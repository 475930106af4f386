#include "sha1.hpp"

#include <bit>

namespace filch::bench {
namespace {

constexpr std::uint32_t end_mark = 0x80000000;  // the 1 bit that ends a message

sha1_digest compress(const sha1_digest& state, const sha1_block& block) {
  sha1_block schedule = block;  // the last 16 words of the message schedule, as a ring
  auto [a, b, c, d, e] = state;
  for (unsigned t = 0; t < 80; ++t) {
    std::uint32_t& word = schedule[t % 16];
    if (t >= 16) {
      word = std::rotl(schedule[(t + 13) % 16] ^ schedule[(t + 8) % 16] ^ schedule[(t + 2) % 16] ^ word, 1);
    }
    std::uint32_t mix = 0;
    if (t < 20) {
      mix = ((b & c) | (~b & d)) + 0x5a827999;
    } else if (t < 40) {
      mix = (b ^ c ^ d) + 0x6ed9eba1;
    } else if (t < 60) {
      mix = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    } else {
      mix = (b ^ c ^ d) + 0xca62c1d6;
    }
    const std::uint32_t next = std::rotl(a, 5) + mix + e + word;
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  return {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

sha1_digest child(const sha1_digest& parent, std::uint32_t index) {
  sha1_block block = {parent[0], parent[1], parent[2], parent[3], parent[4], index, end_mark};
  block[15] = 24 * 8;  // the length in bits
  return compress(sha1_initial, block);
}

}  // namespace

const sha1_kernel portable_sha1 = {compress, child};

const sha1_kernel& best_sha1() {
  static const sha1_kernel* const accelerated = accelerated_sha1();
  return accelerated != nullptr ? *accelerated : portable_sha1;
}

sha1_digest sha1_root(std::uint32_t seed) {
  sha1_block block = {0, 0, 0, 0, seed, end_mark};
  block[15] = 20 * 8;
  return best_sha1().compress(sha1_initial, block);
}

}  // namespace filch::bench
