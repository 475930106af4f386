// The data that programs declare to touch: a private cache for each core, one shared by each socket, and memory that
// belongs to sockets.
//
// Data is followed in blocks of 256 bytes. Blocks are numbered in the order in which they are first touched, and a
// block's place in a cache follows from its number, so that nothing depends on where the system put the data. Caches
// have 8 ways and replace what was used least recently. Costs are throughputs per line of 64 bytes, with prefetching.
//
// Invariants
//  1. A copy in a cache is valid if it carries the block's version. Versions change when a core writes what another
//     may have a copy of.
//  2. A socket's memory serves one line per interval to all who ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vm/machine/machine_file.hpp"
#include "vm/machine/page_table.hpp"
#include "vm/machine/virtual_time.hpp"

namespace filch::platform::vm {

class data_memory {
 public:
  explicit data_memory(const machine_description& machine);

  /// `core` reads or writes the bytes, beginning now. Returns when it has done so.
  [[nodiscard]] picoseconds touch(std::uint32_t core, const void* at, std::size_t bytes, bool writes, picoseconds now);
  void forget(const void* at, std::size_t bytes) { blocks_.forget(at, bytes); }

 private:
  static constexpr unsigned block_bits = 8;
  static constexpr std::uint32_t nobody = 0xffff'ffff;

  struct block {
    std::uint32_t number = 0;  ///< from 1 on; 0: never touched
    std::uint32_t version = 0;
    std::uint32_t home = 0;  ///< socket
    std::uint32_t writer = nobody;
    bool is_shared = false;  ///< somebody but the writer may have a copy of this version
  };

  class cache {
   public:
    explicit cache(std::int64_t bytes);
    /// Puts the block in, as newest. Was it there, valid?
    bool use(const block& b) noexcept;
    [[nodiscard]] bool has(const block& b) const noexcept;

   private:
    static constexpr std::size_t ways = 8;
    struct copy {
      std::uint32_t number = 0;
      std::uint32_t version = 0;
      std::uint64_t used = 0;
    };
    [[nodiscard]] std::size_t first_of(const block& b) const noexcept { return (b.number % sets_) * ways; }

    std::uint32_t sets_;
    std::uint64_t uses_ = 0;
    std::vector<copy> copies_;
  };

  cache& private_of(std::uint32_t core);
  cache& shared_of(std::uint32_t socket);
  [[nodiscard]] std::uint32_t socket_of(std::uint32_t core) const noexcept { return core / cores_per_socket_; }
  void first_touch(block& b, std::uint32_t socket) noexcept;
  picoseconds touch(std::uint32_t core, block& b, std::uint32_t lines, bool writes, picoseconds now);
  picoseconds from_memory(std::uint32_t socket, std::uint32_t home, std::uint32_t lines, picoseconds now);

  data_costs costs_;
  std::uint32_t cores_per_socket_;
  page_table<block, block_bits> blocks_;
  std::uint32_t known_ = 0;
  std::vector<std::unique_ptr<cache>> private_;
  std::vector<std::unique_ptr<cache>> shared_;
  std::vector<picoseconds> memory_free_at_;  // by socket
};

}  // namespace filch::platform::vm
