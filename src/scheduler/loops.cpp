// What loops call off their fast path.
#include "platform/clock.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

chunk_timer::chunk_timer() noexcept : since_(platform::now_ns()) {}

std::int64_t chunk_timer::ns() const noexcept { return platform::now_ns() - since_; }

}  // namespace filch::detail
