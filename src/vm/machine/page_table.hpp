// What is known about pieces of the program's memory, found by address: a hash table of regions of 2 MiB, tables of
// pages inside, records inside of those, and in front of all that a small table of the pages used last.
//
// Regions make forgetting cheap: of a large mapping only what was ever looked at is visited. Records stay where they
// are; a forgotten one is as new. Nothing depends on the numeric value of an address: no order, no place in a cache,
// and nothing is taken from the program's heap.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "vm/machine/arena.hpp"

namespace filch::platform::vm {

/// A Record for every `1 << RecordBits` bytes.
template <class Record, unsigned RecordBits>
class page_table {
 public:
  page_table() : regions_(16, arena_allocator<region>(memory_)), recent_(recent_size) {}

  /// The record of the memory at that address; as new when nobody asked before.
  [[nodiscard]] Record& at(const void* address) {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t page_number = number >> page_bits;
    recent& seen = recent_[page_number % recent_size];
    if (seen.page_number != page_number || seen.found == nullptr) [[unlikely]] {
      seen = {page_number, &page_at(page_number)};
    }
    return (*seen.found)[(number >> RecordBits) % records_per_page];
  }

  /// The records in the range are as new. Of records at its ends that are inside in part, each has its own forget(first
  /// byte, last byte) called, counted within the record; without such a function they count as inside.
  void forget(const void* address, std::size_t bytes) {
    visit_parts(address, bytes, [](Record& record, std::uintptr_t first, std::uintptr_t last) {
      if constexpr (requires(Record r, std::uintptr_t byte) { r.forget(byte, byte); }) {
        record.forget(first, last);
      } else {
        record = Record{};
      }
    });
  }

  /// Calls f(record) for each that was ever looked at, or is beside one, and is in the range, in part at least.
  template <class Function>
  void visit(const void* address, std::size_t bytes, Function f) {
    visit_parts(address, bytes, [&f](Record& record, std::uintptr_t /*first*/, std::uintptr_t /*last*/) { f(record); });
  }

 private:
  static constexpr unsigned page_bits = 12;
  static constexpr unsigned region_bits = 21;
  static constexpr std::size_t records_per_page = std::size_t{1} << (page_bits - RecordBits);
  static constexpr std::size_t pages_per_region = std::size_t{1} << (region_bits - page_bits);
  static constexpr std::size_t recent_size = 1024;

  using page = std::array<Record, records_per_page>;
  using page_list = std::array<std::unique_ptr<page, end_in_arena>, pages_per_region>;
  struct region {
    std::uintptr_t number = 0;
    std::unique_ptr<page_list, end_in_arena> pages;
  };
  struct recent {
    std::uintptr_t page_number = 0;
    page* found = nullptr;
  };

  using region_list = std::vector<region, arena_allocator<region>>;

  template <class T>
  [[nodiscard]] T* make() {
    return ::new (static_cast<void*>(memory_.take(sizeof(T)))) T();
  }

  /// Calls f(record, first byte, last byte) with the part of each known record that is in the range.
  template <class Function>
  void visit_parts(const void* address, std::size_t bytes, Function f) {
    if (bytes == 0) return;
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t last = first + bytes - 1;
    for (std::uintptr_t r = first >> region_bits; r <= last >> region_bits; ++r) {
      const std::size_t i = slot_of(r);
      if (regions_[i].pages == nullptr) continue;
      const std::uintptr_t begin = r << region_bits;
      const std::uintptr_t end = begin + (std::uintptr_t{1} << region_bits) - 1;
      const std::uintptr_t first_page = std::max(first, begin) >> page_bits;
      const std::uintptr_t last_page = std::min(last, end) >> page_bits;
      for (std::uintptr_t p = first_page; p <= last_page; ++p) {
        page* const known = (*regions_[i].pages)[p % pages_per_region].get();
        if (known != nullptr) visit_in(*known, p << page_bits, first, last, f);
      }
    }
  }

  template <class Function>
  static void visit_in(page& known, std::uintptr_t begin, std::uintptr_t first, std::uintptr_t last, Function& f) {
    const std::uintptr_t from = std::max(first, begin) - begin;
    const std::uintptr_t to = std::min(last - begin, (std::uintptr_t{1} << page_bits) - 1);
    for (std::uintptr_t i = from >> RecordBits; i <= to >> RecordBits; ++i) {
      const std::uintptr_t at = i << RecordBits;
      f(known[i], std::max(at, from) - at, std::min(at + (std::uintptr_t{1} << RecordBits) - 1, to) - at);
    }
  }

  /// Where the region is, or the empty place for it.
  [[nodiscard]] std::size_t slot_of(std::uintptr_t number) const noexcept {
    const std::size_t mask = regions_.size() - 1;
    std::size_t i = (number * 0x9e3779b97f4a7c15ULL >> 32) & mask;
    while (regions_[i].pages != nullptr && regions_[i].number != number) i = (i + 1) & mask;
    return i;
  }

  [[nodiscard]] page& page_at(std::uintptr_t page_number) {
    const std::uintptr_t number = page_number >> (region_bits - page_bits);
    std::size_t i = slot_of(number);
    if (regions_[i].pages == nullptr) {
      if (++used_ * 2 > regions_.size()) {
        grow();
        i = slot_of(number);
      }
      regions_[i].number = number;
      regions_[i].pages.reset(make<page_list>());
    }
    auto& found = (*regions_[i].pages)[page_number % pages_per_region];
    if (found == nullptr) found.reset(make<page>());
    return *found;
  }

  void grow() {
    region_list old(regions_.size() * 2, arena_allocator<region>(memory_));
    old.swap(regions_);
    for (region& each : old) {
      if (each.pages != nullptr) regions_[slot_of(each.number)] = std::move(each);
    }
  }

  arena memory_;
  region_list regions_;  // open addressing; a power of two
  std::size_t used_ = 0;
  std::vector<recent> recent_;
};

}  // namespace filch::platform::vm
