// SHA-1 against the vectors of NIST (FIPS 180-4 examples, CAVP byte-oriented short messages), and both kernels against
// each other.
#include "sha1.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "random.hpp"

namespace filch::bench {
namespace {

// The whole of SHA-1 on top of a kernel's compression function.
sha1_digest sha1(const sha1_kernel& kernel, std::string message) {
  const std::uint64_t length_bits = message.size() * 8;
  message.push_back('\x80');
  while (message.size() % 64 != 56) message.push_back('\0');
  for (int shift = 56; shift >= 0; shift -= 8) message.push_back(static_cast<char>(length_bits >> shift));
  sha1_digest state = sha1_initial;
  for (std::size_t at = 0; at < message.size(); at += 64) {
    sha1_block block{};
    for (std::size_t byte = 0; byte < 64; ++byte) {
      block[byte / 4] = block[byte / 4] << 8 | static_cast<std::uint8_t>(message[at + byte]);
    }
    state = kernel.compress(state, block);
  }
  return state;
}

std::string bytes_of(const sha1_digest& digest, std::uint32_t index) {
  std::string bytes;
  for (const std::uint32_t word : {digest[0], digest[1], digest[2], digest[3], digest[4], index}) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  }
  return bytes;
}

// The kernels that this processor can run.
std::vector<const sha1_kernel*> kernels() {
  std::vector<const sha1_kernel*> all = {&portable_sha1};
  if (const sha1_kernel* const accelerated = accelerated_sha1()) all.push_back(accelerated);
  return all;
}

TEST(sha1, gives_the_digests_that_nist_publishes) {
  struct example {
    std::string message;
    sha1_digest digest;
  };
  const example examples[] = {
      {"", {0xda39a3ee, 0x5e6b4b0d, 0x3255bfef, 0x95601890, 0xafd80709}},
      {"\x36", {0xc1dfd96e, 0xea8cc2b6, 0x2785275b, 0xca38ac26, 0x1256e278}},
      {"abc", {0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d}},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       {0x84983e44, 0x1c3bd26e, 0xbaae4aa1, 0xf95129e5, 0xe54670f1}},
      {std::string(1'000'000, 'a'), {0x34aa973c, 0xd4c4daa4, 0xf61eeb2b, 0xdbad2731, 0x6534016f}},
  };
  for (const sha1_kernel* const kernel : kernels()) {
    for (const example& each : examples) EXPECT_EQ(sha1(*kernel, each.message), each.digest);
  }
}

TEST(sha1, of_a_child_is_that_of_the_parent_followed_by_the_index) {
  random_numbers numbers(7);
  for (int round = 0; round < 1000; ++round) {
    sha1_digest parent;
    for (std::uint32_t& word : parent) word = static_cast<std::uint32_t>(numbers.next());
    const auto index = static_cast<std::uint32_t>(numbers.next());
    const sha1_digest expected = sha1(portable_sha1, bytes_of(parent, index));
    for (const sha1_kernel* const kernel : kernels()) ASSERT_EQ(kernel->child(parent, index), expected);
  }
}

TEST(sha1, kernels_agree_on_random_blocks) {
  random_numbers numbers(11);
  for (int round = 0; round < 1000; ++round) {
    sha1_digest state;
    sha1_block block;
    for (std::uint32_t& word : state) word = static_cast<std::uint32_t>(numbers.next());
    for (std::uint32_t& word : block) word = static_cast<std::uint32_t>(numbers.next());
    const sha1_digest expected = portable_sha1.compress(state, block);
    for (const sha1_kernel* const kernel : kernels()) ASSERT_EQ(kernel->compress(state, block), expected);
  }
}

TEST(sha1, of_a_root_is_that_of_16_zero_bytes_and_the_seed) {
  std::string text(16, '\0');
  for (const char c : {'\x01', '\x02', '\x03', '\x04'}) text.push_back(c);
  EXPECT_EQ(sha1_root(0x01020304), sha1(portable_sha1, text));
}

}  // namespace
}  // namespace filch::bench
