// Data of the many-core machine against a plain model: homes of pages, and both kinds of shared cache.
#include "vm/machine/data_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace filch::platform::vm {
namespace {

constexpr std::uint32_t sockets = 3;
constexpr std::uint32_t cores_per_socket = 2;

machine_description machine(shared_cache_kind kind, numa_policy numa) {
  machine_description m{};
  m.sockets = sockets;
  m.cores_per_socket = cores_per_socket;
  m.threads_per_core = 1;
  // Three and seven sets of eight blocks: no power of two.
  m.data = {.private_bytes = std::int64_t{3} * 8 * 256,
            .shared_bytes = std::int64_t{7} * 8 * 256,
            .shared_cache = kind,
            .numa = numa,
            .private_line_ns = 1,
            .shared_line_ns = 10,
            .local_memory_line_ns = 100,
            .remote_memory_line_ns = 1000,
            .memory_interval_ns = 0.5};
  return m;
}

/// Written down as the documentation says it, with as little cleverness as possible.
class plain_model {
 public:
  explicit plain_model(const machine_description& m)
      : m_(m.data), private_(std::size_t{sockets} * cores_per_socket), shared_(sockets), free_at_(sockets) {}

  picoseconds touch(std::uint32_t core, std::uintptr_t at, std::size_t bytes, bool writes, picoseconds now) {
    for (std::uintptr_t each = at / 256; each <= (at + bytes - 1) / 256; ++each) {
      const std::uintptr_t first = std::max(at, each * 256) / 64;
      const std::uintptr_t last = std::min(at + bytes - 1, each * 256 + 255) / 64;
      now = touch(core, each, static_cast<picoseconds>(last - first + 1), writes, now);
    }
    return now;
  }

  void forget(std::uintptr_t at, std::size_t bytes) {
    for (std::uintptr_t each = at / 256; each <= (at + bytes - 1) / 256; ++each) known_.erase(each);
    for (std::uintptr_t page = (at + 4095) / 4096; (page + 1) * 4096 <= at + bytes; ++page) homes_.erase(page);
  }

  std::map<std::uintptr_t, std::uint32_t> homes_;  // by page

 private:
  struct block {
    std::uint64_t number = 0;
    std::optional<std::uint32_t> writer{};
    std::optional<std::uint32_t> reader{};
    std::set<std::uint32_t> may_have{};  // cores other than the writer that have read this version
    int version = 0;
  };
  using copy = std::pair<std::uint64_t, int>;  // of a block's number, of a version
  using cache = std::map<std::uint64_t, std::list<copy>>;

  /// The fraction of a multiple of the golden ratio, in 32 bits, says in which of the sets a run of 16 blocks begins.
  static std::uint64_t set_of(std::uint64_t number, std::uint64_t sets) {
    const std::uint64_t begin =
        number / 16 * 2'654'435'769 % (std::uint64_t{1} << 32) * sets / (std::uint64_t{1} << 32);
    return (begin + number % 16) % sets;
  }
  static bool has(cache& c, std::uint64_t sets, copy wanted) {
    const auto& set = c[set_of(wanted.first, sets)];
    return std::find(set.begin(), set.end(), wanted) != set.end();
  }
  static bool remove(cache& c, std::uint64_t sets, copy wanted) {
    const bool found = has(c, sets, wanted);
    c[set_of(wanted.first, sets)].remove_if([&](const copy& each) { return each.first == wanted.first; });
    return found;
  }
  static std::optional<copy> put(cache& c, std::uint64_t sets, copy wanted) {
    auto& set = c[set_of(wanted.first, sets)];
    set.push_front(wanted);
    if (set.size() <= 8) return {};
    const copy last = set.back();
    set.pop_back();
    return last;
  }

  picoseconds touch(std::uint32_t core, std::uintptr_t at, picoseconds lines, bool writes, picoseconds now) {
    constexpr std::uint64_t own_sets = 3;
    constexpr std::uint64_t near_sets = 7;
    const std::uint32_t socket = core / cores_per_socket;
    if (!homes_.contains(at / 16)) {
      homes_[at / 16] = m_.numa == numa_policy::first_touch ? socket : pages_ % sockets;
      ++pages_;
    }
    const std::uint32_t home = homes_[at / 16];
    block& b = known_[at];
    if (b.number == 0) {
      b.number = ++numbers_;
      versions_[b.number] = 0;
    }
    const copy wanted{b.number, b.version};
    const bool inclusive = m_.shared_cache == shared_cache_kind::inclusive;
    cache& own = private_[core];
    cache& near = shared_[socket];

    const bool in_own = has(own, own_sets, wanted);
    const bool in_near = has(near, near_sets, wanted);
    const bool at_writer = b.writer && *b.writer != core && has(private_[*b.writer], own_sets, wanted);
    const bool at_reader = b.reader && *b.reader != core && *b.reader / cores_per_socket == socket &&
                           has(private_[*b.reader], own_sets, wanted);
    picoseconds end = now;
    if (in_own) {
      end += lines * 1'000;
    } else if (in_near || (at_writer && *b.writer / cores_per_socket == socket) || (at_reader && !inclusive)) {
      end += lines * 10'000;
    } else if (at_writer) {
      end += lines * 1'000'000;
    } else {
      free_at_[home] = std::max(free_at_[home], now) + lines * 500;
      end = std::max(free_at_[home], now + lines * (home == socket ? 100'000 : 1'000'000));
    }

    remove(own, own_sets, wanted);
    const std::optional<copy> dropped = put(own, own_sets, wanted);
    if (inclusive) {
      remove(near, near_sets, wanted);
      put(near, near_sets, wanted);
    } else if (!in_own) {
      remove(near, near_sets, wanted);
      if (dropped && versions_[dropped->first] == dropped->second) {
        remove(near, near_sets, *dropped);
        put(near, near_sets, *dropped);
      }
    }
    b.reader = core;
    if (!writes) {
      if (b.writer != core) b.may_have.insert(core);
    } else if (b.writer != core || !b.may_have.empty()) {
      versions_[b.number] = ++b.version;
      b.writer = core;
      b.may_have.clear();
      own[set_of(b.number, own_sets)].front().second = b.version;
      if (inclusive) near[set_of(b.number, near_sets)].front().second = b.version;
    }
    return end;
  }

  data_costs m_;
  std::uint32_t pages_ = 0;
  std::uint64_t numbers_ = 0;
  std::map<std::uintptr_t, block> known_;
  std::map<std::uint64_t, int> versions_;
  std::vector<cache> private_;
  std::vector<cache> shared_;
  std::vector<picoseconds> free_at_;
};

const void* address(std::uintptr_t number) { return reinterpret_cast<const void*>(number); }

struct model_case {
  shared_cache_kind kind;
  numa_policy numa;
};

class data_memory_test : public testing::TestWithParam<model_case> {};

TEST_P(data_memory_test, costs_what_a_plain_model_costs) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    std::mt19937 dice(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(dice() % n); };
    data_memory memory(machine(GetParam().kind, GetParam().numa));
    plain_model model(machine(GetParam().kind, GetParam().numa));
    // Two arrays far from each other, that do not begin with a page, of about as much as all caches hold.
    const std::uintptr_t arrays[] = {0x7f00'0000'0340, 0x7f00'8000'0f00};
    picoseconds now = 0;
    for (int i = 0; i < 10'000; ++i) {
      const std::uintptr_t at = arrays[below(2)] + below(20) * std::uintptr_t{1024} + below(1024);
      const std::size_t bytes = 1 + below(below(50) == 0 ? 9000 : 700);
      if (below(500) == 0) {
        memory.forget(address(at), bytes);
        model.forget(at, bytes);
        continue;
      }
      const std::uint32_t core = below(sockets * cores_per_socket);
      const bool writes = below(3) == 0;
      const picoseconds expected = model.touch(core, at, bytes, writes, now);
      ASSERT_EQ(memory.touch(core, address(at), bytes, writes, now), expected) << "touch " << i << ", seed " << seed;
      now = expected;
    }
  }
}

TEST_P(data_memory_test, homes_do_not_depend_on_the_numbers_of_addresses) {
  // The same pattern with other distances between its pages, in another order of addresses.
  const auto end_of = [&](std::uintptr_t base, std::uintptr_t distance) {
    data_memory memory(machine(GetParam().kind, GetParam().numa));
    std::mt19937 dice(7);
    picoseconds now = 0;
    for (int i = 0; i < 3'000; ++i) {
      const std::uintptr_t page = dice() % 40;
      const std::uint32_t core = static_cast<std::uint32_t>(dice()) % (sockets * cores_per_socket);
      now =
          memory.touch(core, address(base + page * distance + dice() % 3000), 1 + dice() % 1000, dice() % 2 == 0, now);
    }
    return now;
  };
  const picoseconds once = end_of(0x10'0000, 4096);
  EXPECT_EQ(end_of(0x7fff'ff00'0000, 4096), once);
  EXPECT_EQ(end_of(0x10'0000, std::uintptr_t{5} * 4096), once);
  EXPECT_EQ(end_of(0x7fff'ff00'0000, std::uintptr_t{0} - 12'288), once);
}

INSTANTIATE_TEST_SUITE_P(all, data_memory_test,
                         testing::Values(model_case{shared_cache_kind::inclusive, numa_policy::first_touch},
                                         model_case{shared_cache_kind::inclusive, numa_policy::interleave},
                                         model_case{shared_cache_kind::non_inclusive, numa_policy::first_touch},
                                         model_case{shared_cache_kind::non_inclusive, numa_policy::interleave}));

/// Does the line come from the memory of the core's own socket?
bool is_local(data_memory& memory, std::uint32_t core, std::uintptr_t at) {
  const picoseconds now = 1'000'000'000'000;
  const picoseconds cost = memory.touch(core, address(at), 64, false, now) - now;
  EXPECT_TRUE(cost == 100'000 || cost == 1'000'000) << cost;
  return cost == 100'000;
}

TEST(data_memory, a_page_belongs_to_who_touches_it_first) {
  data_memory memory(machine(shared_cache_kind::inclusive, numa_policy::first_touch));
  static_cast<void>(memory.touch(4, address(0x5000'0fff), 2, true, 0));  // on both sides of a boundary
  // Other blocks of the two pages, which nobody has in a cache.
  EXPECT_TRUE(is_local(memory, 5, 0x5000'0000));
  EXPECT_FALSE(is_local(memory, 0, 0x5000'0800));
  EXPECT_TRUE(is_local(memory, 4, 0x5000'1f00));
  EXPECT_FALSE(is_local(memory, 2, 0x5000'1800));
  EXPECT_TRUE(is_local(memory, 2, 0x5000'2000)) << "the next page is still nobody's";
}

TEST(data_memory, interleaved_pages_take_turns) {
  data_memory memory(machine(shared_cache_kind::inclusive, numa_policy::interleave));
  for (std::uintptr_t i = 0; i < 30; ++i) {
    const std::uintptr_t page = 0x5000'0000 + (i * 7 % 30) * 4096;  // in the order of touches, not of addresses
    for (std::uint32_t socket = 0; socket < sockets; ++socket) {
      EXPECT_EQ(is_local(memory, socket * cores_per_socket, page + std::uintptr_t{socket} * 256),
                socket == i % sockets);
    }
  }
}

TEST(data_memory, capacities_add_up_unless_the_shared_cache_is_inclusive) {
  // One core goes round and round through as much as its cache and half of the shared one hold.
  for (const auto kind : {shared_cache_kind::inclusive, shared_cache_kind::non_inclusive}) {
    machine_description m = machine(kind, numa_policy::first_touch);
    m.data.private_bytes = std::int64_t{8} * 8 * 256;
    m.data.shared_bytes = std::int64_t{8} * 8 * 256;
    data_memory memory(m);
    picoseconds now = 0;
    picoseconds last = 0;
    for (int round = 0; round < 4; ++round) {
      const picoseconds begin = now;
      now = memory.touch(0, address(0x5000'0000), std::size_t{12} * 8 * 256, false, now);
      last = now - begin;
    }
    const picoseconds lines = picoseconds{12} * 8 * 4;
    EXPECT_EQ(last, lines * (kind == shared_cache_kind::inclusive ? 100'000 : 10'000));
  }
}

TEST(data_memory, blocks_that_cores_touch_in_turns_fill_their_caches) {
  // Half of a private cache for each core; one block each in turns, so that a core has every 64th of all blocks.
  machine_description m = machine(shared_cache_kind::inclusive, numa_policy::first_touch);
  m.sockets = 4;
  m.cores_per_socket = 16;
  m.data.private_bytes = 1 << 20;
  m.data.shared_bytes = 0;
  data_memory memory(m);
  constexpr std::uintptr_t part = 1 << 19;
  for (int round = 0; round < 2; ++round) {
    for (std::uintptr_t at = 0; at < part; at += 256) {
      for (std::uint32_t core = 0; core < 64; ++core) {
        const picoseconds now = 1'000'000'000'000;
        const picoseconds end = memory.touch(core, address(0x5000'0000 + core * part + at), 256, false, now);
        if (round == 0) continue;
        ASSERT_EQ(end - now, 4 * 1'000) << "core " << core << ", byte " << at;
      }
    }
  }
}

}  // namespace
}  // namespace filch::platform::vm
