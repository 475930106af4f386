// Records by address, kept from run to run so that nothing is allocated once the runs are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace filch::platform::vm {

/// An open-addressed hash table. Records are numbered in the order in which they were made; they stay where they are.
template <class Record>
class address_table {
 public:
  /// Empties the table in constant time.
  void reset() noexcept {
    ++generation_;
    used_ = 0;
  }

  /// The record of an address, or null.
  [[nodiscard]] Record* find(const void* at) noexcept {
    const entry& e = slots_[position(at)];
    return e.generation == generation_ ? &records_[e.record] : nullptr;
  }

  /// The record of an address; `fresh` tells whether it was made now. It then holds what an earlier run left.
  Record& obtain(const void* at, bool& fresh) {
    entry* e = &slots_[position(at)];
    fresh = e->generation != generation_;
    if (!fresh) return records_[e->record];
    if (2 * (used_ + 1) > slots_.size()) {
      grow();
      e = &slots_[position(at)];
    }
    *e = {at, generation_, used_};
    if (used_ == records_.size()) records_.emplace_back();
    return records_[used_++];
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return used_; }
  [[nodiscard]] Record& operator[](std::uint32_t number) noexcept { return records_[number]; }
  [[nodiscard]] const Record& operator[](std::uint32_t number) const noexcept { return records_[number]; }

 private:
  struct entry {
    const void* at = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t record = 0;
  };

  [[nodiscard]] std::size_t position(const void* at) const noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(at);
    std::size_t i = (bits * 0x9E3779B97F4A7C15ULL) >> shift_;
    while (slots_[i].generation == generation_ && slots_[i].at != at) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void grow() {
    std::vector<entry> old(2 * slots_.size());
    old.swap(slots_);
    --shift_;
    for (const entry& e : old) {
      if (e.generation == generation_) slots_[position(e.at)] = e;
    }
  }

  std::vector<entry> slots_ = std::vector<entry>(1024);
  unsigned shift_ = 54;
  std::uint32_t generation_ = 1;
  std::uint32_t used_ = 0;
  std::deque<Record> records_;
};

}  // namespace filch::platform::vm
