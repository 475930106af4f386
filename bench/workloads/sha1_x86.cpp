// SHA-1 with the x86 SHA extensions. Compiled for any x86-64; handed out only where the processor has them.
//
// A vector holds four words, the first in the highest lane: that is the order in which sha1rnds4 takes them.
#include <bit>
#include <utility>

#include <cpuid.h>
#include <immintrin.h>

#include "sha1.hpp"

namespace filch::bench {
namespace {

constexpr int reverse_lanes = 0x1b;
constexpr std::uint32_t end_mark = 0x80000000;  // the 1 bit that ends a message

struct registers {
  __m128i abcd;
  __m128i previous;    // abcd four rounds ago: its highest lane, rotated by 30, is e
  __m128i message[4];  // the last 16 words of the message schedule, as a ring
};

template <int Group>
[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline void four_rounds(registers& r) {
  __m128i& words = r.message[Group % 4];
  if constexpr (Group >= 4) {
    const __m128i partial = _mm_xor_si128(_mm_sha1msg1_epu32(words, r.message[(Group + 1) % 4]),  //
                                          r.message[(Group + 2) % 4]);
    words = _mm_sha1msg2_epu32(partial, r.message[(Group + 3) % 4]);
  }
  const __m128i e_and_words = _mm_sha1nexte_epu32(r.previous, words);
  r.previous = r.abcd;
  r.abcd = _mm_sha1rnds4_epu32(r.abcd, e_and_words, Group / 5);
}

template <int... Group>
[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline void rounds(registers& r,
                                                                     std::integer_sequence<int, Group...>) {
  (four_rounds<Group>(r), ...);
}

// Four words of an array, or back to it.
[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline __m128i load_words(const std::uint32_t* words) {
  return _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words)), reverse_lanes);
}

[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline void store_words(std::uint32_t* words, __m128i lanes) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(words), _mm_shuffle_epi32(lanes, reverse_lanes));
}

[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline __m128i highest_lane(std::uint32_t word) {
  return _mm_set_epi32(static_cast<int>(word), 0, 0, 0);
}

[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline sha1_digest compress_vectors(  //
    const sha1_digest& state, __m128i m0, __m128i m1, __m128i m2, __m128i m3) {
  const __m128i abcd = load_words(state.data());
  // sha1nexte will rotate the initial e by 30 as it does all later ones: rotated by 2 beforehand, it comes out as it
  // is.
  registers r = {abcd, highest_lane(std::rotl(state[4], 2)), {m0, m1, m2, m3}};
  rounds(r, std::make_integer_sequence<int, 20>());
  sha1_digest result;
  store_words(result.data(), _mm_add_epi32(r.abcd, abcd));
  result[4] = static_cast<std::uint32_t>(_mm_extract_epi32(_mm_sha1nexte_epu32(r.previous, highest_lane(state[4])), 3));
  return result;
}

[[gnu::target("sha,sse4.1")]] sha1_digest compress(const sha1_digest& state, const sha1_block& block) {
  const std::uint32_t* words = block.data();
  return compress_vectors(state, load_words(words), load_words(words + 4), load_words(words + 8),
                          load_words(words + 12));
}

[[gnu::target("sha,sse4.1")]] sha1_digest child(const sha1_digest& parent, std::uint32_t index) {
  const __m128i rest = _mm_set_epi32(static_cast<int>(parent[4]), static_cast<int>(index),  //
                                     static_cast<int>(end_mark), 0);
  const __m128i length_in_bits = _mm_set_epi32(0, 0, 0, 24 * 8);
  return compress_vectors(sha1_initial, load_words(parent.data()), rest, _mm_setzero_si128(), length_in_bits);
}

// Asked of the processor itself: __builtin_cpu_supports of g++ 12 does not know "sha".
bool has_sha_instructions() {
  constexpr unsigned leaf_1_ecx_sse4_1 = 1U << 19;
  constexpr unsigned leaf_7_ebx_sha = 1U << 29;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & leaf_1_ecx_sse4_1) == 0) return false;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & leaf_7_ebx_sha) != 0;
}

}  // namespace

const sha1_kernel* accelerated_sha1() {
  static constexpr sha1_kernel kernel = {compress, child};
  return has_sha_instructions() ? &kernel : nullptr;
}

}  // namespace filch::bench
