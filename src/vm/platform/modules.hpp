// The platform seam of the virtual machine: all virtual places are in one process, so addresses are the same everywhere,
// and one module spans them all.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace filch::platform {

struct module {
  std::uint32_t id;
  std::string name;
  std::string version;
  std::uintptr_t begin;
  std::uintptr_t end;
};

struct code_location {
  std::uint32_t module;
  std::uint64_t offset;
};

[[nodiscard]] inline const std::vector<module>& modules_at_start() {
  static const std::vector<module> one{
      {0, "the program", "", 0, std::numeric_limits<std::uintptr_t>::max()},
  };
  return one;
}

[[nodiscard]] inline std::optional<code_location> locate(const void* address) {
  return code_location{0, reinterpret_cast<std::uintptr_t>(address)};
}

[[nodiscard]] inline const void* address_of(code_location where) {
  return std::bit_cast<const void*>(static_cast<std::uintptr_t>(where.offset));
}

}  // namespace filch::platform
