#include "platform/watched.hpp"

#include <atomic>

#include <unistd.h>

namespace filch::platform {
namespace {

struct watched_table {
  watched::table_header header;
  std::atomic<const watched::scheduler*> schedulers[watched_entry::most_watched];
};

// The name of the section is watched::section.
[[gnu::used]] [[gnu::section("filch_watched")]] constinit watched_table table{
    {watched::magic, watched::version, watched_entry::most_watched}, {}};

constinit std::atomic<std::uint64_t> newest_number{0};

}  // namespace

watched_entry::watched_entry(const watched::scheduler& what) noexcept : what_(what) {
  what_.magic = watched::magic;
  what_.process = static_cast<std::uint64_t>(getpid());
  what_.number = newest_number.fetch_add(1, std::memory_order_relaxed) + 1;  // only differs from others
  for (; index_ != most_watched; ++index_) {
    const watched::scheduler* free = nullptr;
    // release: what it consists of, for readers in other processes.
    if (table.schedulers[index_].compare_exchange_strong(free, &what_, std::memory_order_release,
                                                         std::memory_order_relaxed)) {
      return;
    }
  }
}

watched_entry::~watched_entry() {
  if (index_ != most_watched)
    table.schedulers[index_].store(nullptr, std::memory_order_relaxed);  // readers doubt it all
  what_.magic = 0;
}

}  // namespace filch::platform
