#include "vm/machine/data_memory.hpp"

#include <algorithm>

#include <filch/vm/data_units.hpp>

namespace filch::platform::vm {

void data_memory::page::forget(std::size_t first, std::size_t last) noexcept {
  for (std::size_t b = first / block_bytes; b <= last / block_bytes; ++b) blocks[b] = {};
  if (first == 0 && last == page_bytes - 1) home = nobody;
}

data_memory::cache::cache(std::int64_t bytes, arena& memory)
    : sets_(static_cast<std::uint32_t>(bytes / static_cast<std::int64_t>(block_bytes * ways))),
      all_(reinterpret_cast<set*>(memory.take(sets_ * sizeof(set)))) {}

inline data_memory::cache::set& data_memory::cache::set_of(const copy& c) const noexcept {
  // Runs of 16 blocks begin at multiples of the golden ratio: so the blocks of each core spread over all sets, whether they
  // are consecutive, or every 64th because 64 cores touch their blocks in turns. By the remainder of a division these would
  // share a few sets. And what is touched in order is near to each other in the simulator's own caches.
  constexpr std::uint32_t golden = 0x9e37'79b9;  // times 2^-32
  constexpr std::uint32_t run = 16;
  const std::uint32_t fraction = c.number / run * golden;
  std::uint64_t index = (std::uint64_t{fraction} * sets_ >> 32) + c.number % run;
  if (index >= sets_) index %= sets_;
  return all_[index];
}

bool data_memory::cache::has(const copy& c) const noexcept {
  if (sets_ == 0) return false;
  const set& s = set_of(c);
  return std::find(s.copies.begin(), s.copies.end(), c) != s.copies.end();
}

inline bool data_memory::cache::use(const copy& c, copy& dropped) noexcept {
  dropped = {};
  if (sets_ == 0) return false;
  set& s = set_of(c);
  const auto first = s.copies.begin();
  for (auto each = first; each != s.copies.end(); ++each) {
    if (each->number != c.number) continue;
    const bool is_valid = each->version == c.version;
    std::move_backward(first, each, each + 1);
    *first = c;
    return is_valid;
  }
  dropped = s.copies.back();
  std::move_backward(first, s.copies.end() - 1, s.copies.end());
  *first = c;
  return false;
}

inline void data_memory::cache::renew(const copy& c) noexcept {
  if (sets_ != 0) set_of(c).copies.front() = c;
}

inline bool data_memory::cache::take(const copy& c) noexcept {
  if (sets_ == 0) return false;
  set& s = set_of(c);
  const auto found =
      std::find_if(s.copies.begin(), s.copies.end(), [&](const copy& e) { return e.number == c.number; });
  if (found == s.copies.end()) return false;
  const bool is_valid = found->version == c.version;
  std::move(found + 1, s.copies.end(), found);
  s.copies.back() = {};
  return is_valid;
}

data_memory::data_memory(const machine_description& machine)
    : is_inclusive_(machine.data.shared_cache == shared_cache_kind::inclusive),
      is_first_touch_(machine.data.numa == numa_policy::first_touch),
      cores_per_socket_(static_cast<std::uint32_t>(machine.cores_per_socket)),
      private_bytes_(machine.data.private_bytes),
      shared_bytes_(machine.data.shared_bytes),
      private_line_(from_ns(machine.data.private_line_ns)),
      shared_line_(from_ns(machine.data.shared_line_ns)),
      local_line_(from_ns(machine.data.local_memory_line_ns)),
      remote_line_(from_ns(machine.data.remote_memory_line_ns)),
      interval_(from_ns(machine.data.memory_interval_ns)),
      versions_(1, arena_allocator<std::uint32_t>(memory_)),
      private_(static_cast<std::size_t>(machine.cores())),
      shared_(static_cast<std::size_t>(machine.sockets)),
      memory_free_at_(static_cast<std::size_t>(machine.sockets)) {}

// Caches appear when they are first used: few programs touch data on every core of a large machine.
data_memory::cache& data_memory::private_of(std::uint32_t core) {
  if (private_[core] == nullptr) private_[core] = std::make_unique<cache>(private_bytes_, memory_);
  return *private_[core];
}

data_memory::cache& data_memory::shared_of(std::uint32_t socket) {
  if (shared_[socket] == nullptr) shared_[socket] = std::make_unique<cache>(shared_bytes_, memory_);
  return *shared_[socket];
}

std::uint32_t data_memory::home_of_new_page(std::uint32_t socket) noexcept {
  const std::uint32_t next = known_pages_++ % static_cast<std::uint32_t>(memory_free_at_.size());
  return is_first_touch_ ? socket : next;
}

void data_memory::number(block& b) {
  b.number = ++known_blocks_;
  if (!is_inclusive_) versions_.push_back(b.version);
}

picoseconds data_memory::touch(std::uint32_t core, const void* at, std::size_t bytes, bool writes, picoseconds now) {
  const auto* const begin = static_cast<const std::byte*>(at);
  const auto first = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = first + bytes;
  for (std::uintptr_t from = first; from < end;) {
    page& p = pages_.at(begin + (from - first));
    if (p.home == nobody) p.home = home_of_new_page(socket_of(core));
    const std::uintptr_t end_here = std::min(end, (from / page_bytes + 1) * page_bytes);
    while (from < end_here) {
      const std::uintptr_t to = std::min(end_here, (from / block_bytes + 1) * block_bytes);
      const auto lines = static_cast<std::uint32_t>((to - 1) / line_bytes - from / line_bytes + 1);
      now = touch(core, p.home, p.blocks[from % page_bytes / block_bytes], lines, writes, now);
      from = to;
    }
  }
  return now;
}

/// Puts the block into the caches of the core. True: the private one has it; `is_near`: the shared one has.
inline bool data_memory::use_inclusive(cache& own, std::uint32_t socket, const copy& wanted, bool& is_near) {
  copy dropped;
  const bool is_own = own.use(wanted, dropped);
  is_near = shared_of(socket).use(wanted, dropped);
  return is_own;
}

inline bool data_memory::use_non_inclusive(cache& own, std::uint32_t socket, const copy& wanted, bool& is_near) {
  copy dropped;
  if (own.use(wanted, dropped)) return true;
  cache& near = shared_of(socket);
  is_near = near.take(wanted);
  if (dropped.number != 0 && versions_[dropped.number] == dropped.version) {
    copy lost;
    near.use(dropped, lost);
  }
  return false;
}

inline picoseconds data_memory::touch(std::uint32_t core, std::uint32_t home, block& b, std::uint32_t lines,
                                      bool writes, picoseconds now) {
  if (b.number == 0) number(b);
  const std::uint32_t socket = socket_of(core);
  cache& own = private_of(core);
  const copy wanted{b.number, b.version};
  const auto is_in_cache_of = [&](std::uint32_t other) {
    return other != nobody && other != core && private_of(other).has(wanted);
  };
  const auto is_in_cache_nearby = [&](std::uint32_t other) {
    return other != nobody && socket_of(other) == socket && is_in_cache_of(other);
  };
  bool is_near = false;
  picoseconds end = now;
  if (is_inclusive_ ? use_inclusive(own, socket, wanted, is_near) : use_non_inclusive(own, socket, wanted, is_near)) {
    end += lines * private_line_;
  } else if (is_near || is_in_cache_nearby(b.writer) || (!is_inclusive_ && is_in_cache_nearby(b.reader))) {
    // From the shared cache or, what is modified, through it; and if it does not have all that its cores have, it knows
    // about that.
    end += lines * shared_line_;
  } else if (is_in_cache_of(b.writer)) {
    end += lines * remote_line_;  // modified in another socket
  } else {
    end = from_memory(socket, home, lines, now);
  }
  b.reader = core;
  if (!writes) {
    b.is_shared = b.is_shared || b.writer != core;
  } else if (b.writer != core || b.is_shared) {
    ++b.version;
    b.writer = core;
    b.is_shared = false;
    // What was put in above is what was written.
    own.renew({b.number, b.version});
    if (is_inclusive_) {
      shared_of(socket).renew({b.number, b.version});
    } else {
      versions_[b.number] = b.version;
    }
  }
  return end;
}

picoseconds data_memory::from_memory(std::uint32_t socket, std::uint32_t home, std::uint32_t lines, picoseconds now) {
  picoseconds& free_at = memory_free_at_[home];
  free_at = std::max(free_at, now) + lines * interval_;
  return std::max(free_at, now + lines * (socket == home ? local_line_ : remote_line_));
}

}  // namespace filch::platform::vm
