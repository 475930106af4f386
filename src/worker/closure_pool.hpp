// Memory for the closures of detached tasks, which one thread makes and another one ends. The system's allocator passes
// such blocks from thread to thread under a lock; here they go back to whoever has made them, many at a time. Lists of
// addresses, not of blocks linked to each other: whoever takes a block that was in another processor's cache should only
// write to it, since it would wait for each that it has to read.
//
// Invariants
//  1. One thread at a time is the owner.
//  2. Every block is one of the system's, so that it may be given back to that at any time: a pool keeps some, and not
//     many more than so many.
#pragma once

#include <array>
#include <cstddef>

#include <filch/detail/detached_task.hpp>
#include <filch/platform/memory.hpp>

#include "worker/returned_list.hpp"

namespace filch::detail {

class closure_pool {
 public:
  class blocks_on_their_way;

  closure_pool() = default;
  ~closure_pool();
  closure_pool(const closure_pool&) = delete;
  closure_pool& operator=(const closure_pool&) = delete;

  /// Owner. A block of pooled_bytes. Null: none is kept; one of the system's will do as well.
  [[nodiscard]] void* take() noexcept;
  /// Owner.
  void put(void* block) noexcept;

 private:
  struct block_list {
    platform::shared<block_list*> next{nullptr};
    std::size_t size = 0;
    std::array<void*, 62> blocks;

    [[nodiscard]] bool is_full() const noexcept { return size == blocks.size(); }
    void end_blocks() noexcept;
  };

  /// A megabyte, of what has come back and again of what the owner keeps. Blocks beyond are the system's again, or a burst
  /// of tasks would keep its memory for ever.
  static constexpr std::size_t most_lists = 128;

  static void end(block_list* all) noexcept;
  [[nodiscard]] static block_list* make_list() noexcept;
  void give_back(block_list& blocks) noexcept;

  block_list* current_ = nullptr;
  block_list* further_ = nullptr;                   ///< none of them is empty
  std::size_t further_size_ = 0;                    ///< about so many
  alignas(64) returned_list<block_list> returned_;  ///< by others
  /// About so many. relaxed: it bounds memory, and says nothing about the lists.
  platform::atomic<std::size_t> returned_size_{0};
};

/// Of a worker: blocks of somebody else's pool that are to go back.
class closure_pool::blocks_on_their_way {
 public:
  blocks_on_their_way() = default;
  ~blocks_on_their_way();
  blocks_on_their_way(const blocks_on_their_way&) = delete;
  blocks_on_their_way& operator=(const blocks_on_their_way&) = delete;

  void add(void* block, closure_pool& pool) noexcept;

 private:
  /// Fewer are not worth a list of their own.
  static constexpr std::size_t least = 8;

  closure_pool* to_ = nullptr;  ///< of those in the list
  block_list* list_ = nullptr;
};

/// A pool for several threads, of which one at a time is the owner.
class shared_closure_pool {
 public:
  /// Any thread. As closure_pool::take. `from`: where a block for this task is to go back to; null: nowhere.
  [[nodiscard]] void* take(closure_pool*& from) noexcept;

 private:
  closure_pool pool_;
  platform::atomic<bool> is_owned_{false};
};

}  // namespace filch::detail
