// Where a section of an ELF file is in the memory of a process that has mapped the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace filch::cli {

struct elf_section {
  std::uint64_t from_start;  ///< bytes from where the file's first byte is mapped
  std::uint64_t bytes;
};

/// Nothing where there is no such section, or it is no such file, or it cannot be read. For 64-bit files.
std::optional<elf_section> find_section(const std::string& path, std::string_view name);

}  // namespace filch::cli
