// SHA-1 (FIPS 180-4) on single blocks, as Unbalanced Tree Search uses it: a node's 20-byte state is a digest, and
// child i's state is the digest of the parent's state followed by i, which is one block.
//
// Words are kept as native integers; big-endian byte order exists only in the definition.
#pragma once

#include <array>
#include <cstdint>

namespace filch::bench {

using sha1_digest = std::array<std::uint32_t, 5>;
using sha1_block = std::array<std::uint32_t, 16>;

inline constexpr sha1_digest sha1_initial = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

/// One implementation of the two operations.
struct sha1_kernel {
  /// The compression function: `state` after one more block.
  sha1_digest (*compress)(const sha1_digest& state, const sha1_block& block);

  /// SHA1(parent || index as a big-endian 32-bit number), a message of 24 bytes.
  sha1_digest (*child)(const sha1_digest& parent, std::uint32_t index);
};

/// In plain C++, for any processor.
extern const sha1_kernel portable_sha1;

/// With this processor's SHA instructions; null where it has none that are supported.
const sha1_kernel* accelerated_sha1();

/// The faster of the two, chosen once.
const sha1_kernel& best_sha1();

/// SHA1(16 zero bytes || seed as a big-endian 32-bit number), a message of 20 bytes: the root of a tree.
sha1_digest sha1_root(std::uint32_t seed);

}  // namespace filch::bench
