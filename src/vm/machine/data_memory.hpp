// The data that programs declare to touch: a private cache for each core, one shared by each socket, and memory that
// belongs to sockets.
//
// Memory belongs to sockets by pages of 4 KiB; data is followed in blocks of 256 bytes. Pages and blocks are numbered in
// the order in which they are first touched. A block's place in a cache, and the home of a page that is interleaved,
// follow from its number, so that nothing depends on where the system put the data, but for what shares a page. Caches
// have 8 ways, over whose sets blocks are spread evenly, and replace what was used least recently. Costs are throughputs per line of 64 bytes, with prefetching.
//
// An inclusive shared cache gets all that its cores read. One that is not inclusive gets what their private caches drop,
// if it is still valid, and gives a block away when one of them wants it back: so the capacities add up.
//
// Invariants
//  1. A copy in a cache is valid if it carries the block's version. Versions change when a core writes what another
//     may have a copy of.
//  2. A socket's memory serves one line per interval to all who ask.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vm/machine/arena.hpp"
#include "vm/machine/machine_file.hpp"
#include "vm/machine/page_table.hpp"
#include "vm/machine/virtual_time.hpp"

namespace filch::platform::vm {

class data_memory {
 public:
  explicit data_memory(const machine_description& machine);

  /// `core` reads or writes the bytes, beginning now. Returns when it has done so.
  [[nodiscard]] picoseconds touch(std::uint32_t core, const void* at, std::size_t bytes, bool writes, picoseconds now);
  /// A page all of which is forgotten at once has no home any more.
  void forget(const void* at, std::size_t bytes) { pages_.forget(at, bytes); }

 private:
  static constexpr unsigned page_bits = 12;
  static constexpr unsigned block_bits = 8;
  static constexpr std::uint32_t nobody = 0xffff'ffff;

  struct block {
    std::uint32_t number = 0;  ///< from 1 on; 0: never touched
    std::uint32_t version = 0;
    std::uint32_t writer = nobody;
    std::uint32_t reader = nobody;  ///< the core that has fetched it last; only where the shared cache is not inclusive
    bool is_shared = false;         ///< somebody but the writer may have a copy of this version
  };

  struct page {
    std::uint32_t home = nobody;  ///< socket
    std::array<block, 1U << (page_bits - block_bits)> blocks{};

    /// From that byte to that one, both included.
    void forget(std::size_t first, std::size_t last) noexcept;
  };

  /// A copy of a block, of that version.
  struct copy {
    std::uint32_t number = 0;  ///< 0: of none
    std::uint32_t version = 0;
    bool operator==(const copy&) const = default;
  };

  class cache {
   public:
    cache(std::int64_t bytes, arena& memory);
    /// Puts the copy in, as newest. Was it there, in that version? Else `dropped` is what had to go for it.
    bool use(const copy& c, copy& dropped) noexcept;
    /// The same, when it is there as newest: in another version, maybe.
    void renew(const copy& c) noexcept;
    [[nodiscard]] bool has(const copy& c) const noexcept;
    /// Takes the copy out. Was it there, in that version?
    bool take(const copy& c) noexcept;

   private:
    static constexpr std::size_t ways = 8;
    /// One line of the machine that simulates. The copy used last comes first, and those of no block come last.
    struct alignas(64) set {
      std::array<copy, ways> copies;
    };
    [[nodiscard]] set& set_of(const copy& c) const noexcept;

    std::uint32_t sets_;
    set* all_;
  };

  cache& private_of(std::uint32_t core);
  cache& shared_of(std::uint32_t socket);
  [[nodiscard]] std::uint32_t socket_of(std::uint32_t core) const noexcept { return core / cores_per_socket_; }
  [[nodiscard]] std::uint32_t home_of_new_page(std::uint32_t socket) noexcept;
  void number(block& b);
  picoseconds touch(std::uint32_t core, std::uint32_t home, block& b, std::uint32_t lines, bool writes,
                    picoseconds now);
  bool use_inclusive(cache& own, std::uint32_t socket, const copy& wanted, bool& is_near);
  bool use_non_inclusive(cache& own, std::uint32_t socket, const copy& wanted, bool& is_near);
  picoseconds from_memory(std::uint32_t socket, std::uint32_t home, std::uint32_t lines, picoseconds now);

  const bool is_inclusive_;
  const bool is_first_touch_;
  const std::uint32_t cores_per_socket_;
  const std::int64_t private_bytes_;
  const std::int64_t shared_bytes_;
  const picoseconds private_line_;
  const picoseconds shared_line_;
  const picoseconds local_line_;
  const picoseconds remote_line_;
  const picoseconds interval_;
  page_table<page, page_bits> pages_;
  arena memory_;  // of the caches: they must not move the objects of the simulated program
  std::uint32_t known_pages_ = 0;
  std::uint32_t known_blocks_ = 0;
  std::vector<std::uint32_t, arena_allocator<std::uint32_t>>
      versions_;  // by number, if the shared cache is not inclusive
  std::vector<std::unique_ptr<cache>> private_;
  std::vector<std::unique_ptr<cache>> shared_;
  std::vector<picoseconds> memory_free_at_;  // by socket
};

}  // namespace filch::platform::vm
