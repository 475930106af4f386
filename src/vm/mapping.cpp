#include "platform/mapping.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>

#include <sys/mman.h>

#include "platform/reserve.hpp"
#include "vm/world.hpp"

namespace filch::platform {
namespace {

/// Address space that nobody uses; its pages have been given back, so that it reads as zeros.
class kept_space {
 public:
  /// Null: there is none of that size.
  void* take(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    // The newest first.
    for (std::size_t i = count_; i-- > 0;) {
      if (kept_[i].bytes != bytes) continue;
      void* const at = kept_[i].at;
      std::copy(kept_.begin() + static_cast<std::ptrdiff_t>(i) + 1, kept_.begin() + static_cast<std::ptrdiff_t>(count_),
                kept_.begin() + static_cast<std::ptrdiff_t>(i));
      --count_;
      return at;
    }
    return nullptr;
  }

  /// False: there is no room for more, or the system keeps its pages.
  bool put(void* at, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (count_ == kept_.size() || madvise(at, bytes, MADV_DONTNEED) != 0) return false;
    kept_[count_++] = {at, bytes};
    return true;
  }

 private:
  struct space {
    void* at;
    std::size_t bytes;
  };
  std::mutex mutex_;
  std::array<space, 64> kept_{};  ///< of what explorations make: a scheduler or two of some workers
  std::size_t count_ = 0;
};

kept_space kept;

void* take_or_reserve(std::size_t bytes) {
  void* const at = kept.take(bytes);
  return at != nullptr ? at : reserve(bytes);
}

}  // namespace

mapping::mapping(std::size_t bytes) : data_(take_or_reserve(bytes)), bytes_(bytes) {}

mapping::~mapping() {
  if (vm::world* const w = vm::world::current()) w->forget(data_, bytes_);
  if (!kept.put(data_, bytes_)) release(data_, bytes_);
}

}  // namespace filch::platform
