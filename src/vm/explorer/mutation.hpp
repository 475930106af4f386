// Small damage done to a program on purpose, to see whether the explorations notice.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "vm/world.hpp"

namespace filch::platform::vm {

/// Which operation in the sources.
struct site_key {
  std::string_view file;
  std::uint32_t line;
  std::uint32_t column;

  explicit site_key(const site& from) noexcept : file(from.file_name()), line(from.line()), column(from.column()) {}
  friend auto operator<=>(const site_key&, const site_key&) = default;
};

/// What explorations came across at one place.
struct site_record {
  std::string_view function;
  const char* operation = "";
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure = std::memory_order_relaxed;  ///< of a compare-and-swap
  std::uint64_t times = 0;
};
using survey_of_sites = std::map<site_key, site_record>;

struct mutation {
  enum class kind : std::uint8_t {
    weaken,          ///< the operation has `order` instead of its own
    weaken_failure,  ///< the same for a compare-and-swap that fails
    tear,            ///< a read-modify-write becomes a load and a store
    drop             ///< a store does not happen
  };
  site_key where;
  kind what;
  std::memory_order order = std::memory_order_relaxed;
};

/// "seq_cst" and so on.
[[nodiscard]] std::string_view name_of(std::memory_order order) noexcept;

}  // namespace filch::platform::vm
