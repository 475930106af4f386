#include "vm/machine/data_memory.hpp"

#include <algorithm>

namespace filch::platform::vm {
namespace {

constexpr std::uintptr_t line_bytes = 64;
constexpr std::uintptr_t block_bytes = 256;
constexpr std::uint32_t blocks_per_page = 16;  // interleaving is by pages of 4 KiB

}  // namespace

data_memory::cache::cache(std::int64_t bytes)
    : sets_(static_cast<std::uint32_t>(bytes / static_cast<std::int64_t>(block_bytes * ways))), copies_(sets_ * ways) {}

bool data_memory::cache::has(const block& b) const noexcept {
  if (sets_ == 0) return false;
  const auto first = copies_.begin() + static_cast<std::ptrdiff_t>(first_of(b));
  return std::any_of(first, first + ways,
                     [&](const copy& c) { return c.number == b.number && c.version == b.version; });
}

bool data_memory::cache::use(const block& b) noexcept {
  if (sets_ == 0) return false;
  copy* const first = &copies_[first_of(b)];
  copy* oldest = first;
  for (copy* c = first; c != first + ways; ++c) {
    if (c->number == b.number) {
      const bool is_valid = c->version == b.version;
      c->version = b.version;
      c->used = ++uses_;
      return is_valid;
    }
    if (c->used < oldest->used) oldest = c;
  }
  *oldest = {b.number, b.version, ++uses_};
  return false;
}

data_memory::data_memory(const machine_description& machine)
    : costs_(machine.data),
      cores_per_socket_(static_cast<std::uint32_t>(machine.cores_per_socket)),
      private_(static_cast<std::size_t>(machine.cores())),
      shared_(static_cast<std::size_t>(machine.sockets)),
      memory_free_at_(static_cast<std::size_t>(machine.sockets)) {}

// Caches appear when they are first used: few programs touch data on every core of a large machine.
data_memory::cache& data_memory::private_of(std::uint32_t core) {
  if (private_[core] == nullptr) private_[core] = std::make_unique<cache>(costs_.private_bytes);
  return *private_[core];
}

data_memory::cache& data_memory::shared_of(std::uint32_t socket) {
  if (shared_[socket] == nullptr) shared_[socket] = std::make_unique<cache>(costs_.shared_bytes);
  return *shared_[socket];
}

picoseconds data_memory::touch(std::uint32_t core, const void* at, std::size_t bytes, bool writes, picoseconds now) {
  const auto* first = static_cast<const std::byte*>(at);
  while (bytes > 0) {
    const std::uintptr_t in_block = reinterpret_cast<std::uintptr_t>(first) % block_bytes;
    const std::size_t here = std::min<std::size_t>(bytes, block_bytes - in_block);
    const auto lines = static_cast<std::uint32_t>((in_block + here - 1) / line_bytes - in_block / line_bytes + 1);
    now = touch(core, blocks_.at(first), lines, writes, now);
    first += here;
    bytes -= here;
  }
  return now;
}

void data_memory::first_touch(block& b, std::uint32_t socket) noexcept {
  b.home = costs_.numa == numa_policy::first_touch
               ? socket
               : known_ / blocks_per_page % static_cast<std::uint32_t>(memory_free_at_.size());
  b.number = ++known_;
}

picoseconds data_memory::touch(std::uint32_t core, block& b, std::uint32_t lines, bool writes, picoseconds now) {
  const std::uint32_t socket = socket_of(core);
  if (b.number == 0) first_touch(b, socket);
  cache& own = private_of(core);
  cache& near = shared_of(socket);
  const bool in_own = own.use(b);
  const bool in_near = near.use(b);
  picoseconds end = now;
  if (in_own) {
    end += lines * from_ns(costs_.private_line_ns);
  } else if (in_near) {
    end += lines * from_ns(costs_.shared_line_ns);
  } else if (b.writer != nobody && b.writer != core && private_of(b.writer).has(b)) {
    // Modified in another core's cache: a transfer through the shared cache, or between sockets.
    end += lines * from_ns(socket_of(b.writer) == socket ? costs_.shared_line_ns : costs_.remote_memory_line_ns);
  } else {
    end = from_memory(socket, b.home, lines, now);
  }
  if (!writes) {
    b.is_shared = b.is_shared || b.writer != core;
  } else if (b.writer != core || b.is_shared) {
    ++b.version;
    b.writer = core;
    b.is_shared = false;
    // What was put in above is what was written.
    own.use(b);
    near.use(b);
  }
  return end;
}

picoseconds data_memory::from_memory(std::uint32_t socket, std::uint32_t home, std::uint32_t lines, picoseconds now) {
  picoseconds& free_at = memory_free_at_[home];
  free_at = std::max(free_at, now) + lines * from_ns(costs_.memory_interval_ns);
  const double line_ns = socket == home ? costs_.local_memory_line_ns : costs_.remote_memory_line_ns;
  return std::max(free_at, now + lines * from_ns(line_ns));
}

}  // namespace filch::platform::vm
