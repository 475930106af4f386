// What a worker remembers of the loops or reductions of one type, mostly those of one place in the program: how many iterations make
// a chunk of about a microsecond. Too short a chunk costs time, too long a one keeps those waiting who ask for work.
//
// Owner only; an interrupt of it reads how long chunks are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <filch/platform/memory.hpp>

namespace filch::detail {

struct chunk_tuner {
  /// A chunk that is shorter is doubled; one that is longer than four times this is halved.
  static constexpr std::int64_t chunk_ns = 1000;
  static constexpr std::uint64_t largest_chunk = std::uint64_t{1} << 20;
  /// Chunks from one that is timed to the next, once the size is found.
  static constexpr std::uint32_t rarely = 64;

  const void* key = nullptr;
  platform::local<std::uint64_t> chunk{1};
  std::uint32_t until_timed = 1;
  /// Its iterations contain loops or reductions. They may be of any length, and what is in a chunk cannot be shared: so
  /// chunks of one iteration, until some have contained none.
  bool nests = false;
  std::uint8_t quiet = 0;         ///< notes in a row that there were none
  std::uint16_t inner_loops = 0;  ///< that have begun in its iterations; wraps around
  std::uint16_t noted_loops = 0;
  std::uint32_t in_use = 0;  ///< loops with it that the worker is in a chunk of

  /// A chunk of the full size took this long.
  void took(std::int64_t ns) noexcept {
    const std::uint64_t size = chunk.load();
    if (ns < chunk_ns && size < largest_chunk) {
      chunk.store(size * 2);
      until_timed = 1;
    } else {
      if (ns > 4 * chunk_ns && size > 1) chunk.store(size / 2);
      until_timed = rarely;
    }
  }
  void contains_loops() noexcept {
    nests = true;
    ++inner_loops;
    chunk.store(1);
  }
  /// Notes that iterations have run, 16 or what there were. Do they contain no loops any more?
  [[nodiscard]] bool ran_each() noexcept {
    quiet = noted_loops == inner_loops ? quiet + 1 : 0;
    noted_loops = inner_loops;
    if (quiet != 2) return false;  // one note alone may be of an iteration or two
    quiet = 0;
    nests = false;
    until_timed = 1;
    return true;
  }
  /// Another place has its entry from now on.
  void begin(const void* new_key) noexcept {
    key = new_key;
    chunk.store(1);
    until_timed = 1;
    nests = false;
  }
};

/// The tuners of one worker. Where many places meet in a few entries, a new one takes over that of another, which learns its
/// size again; but not that of a loop around it, which would take it back in each of its iterations.
class chunk_tuners {
 public:
  [[nodiscard]] chunk_tuner& of(const void* key) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(key);
    const std::size_t first = (bits ^ (bits >> 8)) % tuners_.size();
    chunk_tuner& tuner = tuners_[first];
    return tuner.key == key ? tuner : find(key, first);
  }
  /// The one for a loop that begins now. A loop in one of the same type, as of a std::function, has another one: that iterations
  /// contain loops says nothing of those of the loops in them. Deeper ones share that: in a function that calls itself they are many, mostly of a
  /// few iterations with loops in them. `key`: an object of two bytes or more, each of which is a key.
  [[nodiscard]] chunk_tuner& of_begun(const void* key) noexcept {
    chunk_tuner& outermost = of(key);
    return outermost.in_use == 0 ? outermost : of(static_cast<const char*>(key) + 1);
  }

 private:
  // Not the first entry alone: where a key lies is chance, and two loops that took turns would both learn again each time.
  [[gnu::noinline]] chunk_tuner& find(const void* key, std::size_t first) noexcept {
    for (std::size_t i = 0; i != longest_walk; ++i) {
      chunk_tuner& tuner = tuners_[(first + i) % tuners_.size()];
      if (tuner.key == key) return tuner;
      if (tuner.key == nullptr) return begun(tuner, key);
    }
    for (std::size_t i = 0; i != longest_walk; ++i) {
      chunk_tuner& tuner = tuners_[(first + next_victim_++ % longest_walk) % tuners_.size()];
      if (tuner.in_use == 0) return begun(tuner, key);
    }
    return begun(tuners_[first], key);
  }
  static chunk_tuner& begun(chunk_tuner& tuner, const void* key) noexcept {
    tuner.begin(key);
    return tuner;
  }

  static constexpr std::size_t longest_walk = 8;
  std::array<chunk_tuner, 128> tuners_;
  std::size_t next_victim_ = 0;  ///< in turn
};

/// An address of its own for each type.
template <class Type>
inline constexpr char key_of = 0;

/// Its name, among other words: for people.
template <class T>
[[nodiscard]] constexpr const char* name_of_type() noexcept {
  return __PRETTY_FUNCTION__;
}

}  // namespace filch::detail
