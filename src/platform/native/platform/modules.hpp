// The platform seam: the program and its shared libraries, so that a function can be named in another process that runs
// the same program: by its module and its offset in there, wherever each process has mapped them.
//
// A module that is there when the list is made first, at the start, is named by its position in the list; processes
// compare these lists. One that is loaded later may come at another time elsewhere, so it is named by a hash of what it is.
// What is listed is never unloaded.
//
// Thread safety: any thread may call any of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <filch/config.hpp>

namespace filch::platform {

struct module {
  std::uint32_t id;     ///< its name in a `code_location`
  std::string name;     ///< of its file, without the folder; "the program"
  std::string version;  ///< build id in hexadecimal digits; where it has none, a hash of its code
  std::uintptr_t begin;
  std::uintptr_t end;
};

/// Where a function, or a constant, is.
struct code_location {
  std::uint32_t module;
  std::uint64_t offset;
};

/// What was loaded when this was first asked for, in the order in which it was loaded. Those that the system adds to each
/// process (the vDSO) are left out.
[[nodiscard]] FILCH_API const std::vector<module>& modules_at_start();

/// Nothing if the address belongs to no module.
[[nodiscard]] std::optional<code_location> locate(const void* address);

/// The address of a location that this or another process has found; null if there is no such module here, or it is
/// smaller than that.
[[nodiscard]] const void* address_of(code_location where);

}  // namespace filch::platform
