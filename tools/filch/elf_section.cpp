#include "elf_section.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <ios>
#include <vector>

#include <elf.h>

namespace filch::cli {

namespace {

// More is no file that anybody runs.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24;

template <class T>
std::vector<T> read_all(std::ifstream& file, std::uint64_t offset, std::uint64_t count) {
  if (count > most_bytes / sizeof(T)) {
    return {};
  }
  std::vector<T> all(count);
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return file ? all : std::vector<T>{};
}

bool is_named(const Elf64_Shdr& section, const std::vector<char>& names, std::string_view name) {
  const std::size_t at = section.sh_name;
  return at < names.size() && names.size() - at > name.size() &&
         name.compare(0, name.npos, &names[at], name.size()) == 0 && names[at + name.size()] == 0;
}

}  // namespace

std::optional<elf_section> find_section(const std::string& path, std::string_view name) {
  std::ifstream file(path, std::ios::binary);
  const auto heads = read_all<Elf64_Ehdr>(file, 0, 1);
  if (heads.empty() || std::memcmp(heads.front().e_ident, ELFMAG, SELFMAG) != 0 ||
      heads.front().e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  const Elf64_Ehdr& head = heads.front();
  const auto sections = read_all<Elf64_Shdr>(file, head.e_shoff, head.e_shnum);
  const auto segments = read_all<Elf64_Phdr>(file, head.e_phoff, head.e_phnum);
  if (head.e_shstrndx >= sections.size()) {
    return std::nullopt;
  }
  const auto names = read_all<char>(file, sections[head.e_shstrndx].sh_offset, sections[head.e_shstrndx].sh_size);
  const auto found = std::ranges::find_if(sections, [&](const auto& each) { return is_named(each, names, name); });
  // The first to be mapped has the file's first byte.
  const auto first = std::ranges::find(segments, Elf64_Word{PT_LOAD}, &Elf64_Phdr::p_type);
  if (found == sections.end() || first == segments.end()) {
    return std::nullopt;
  }
  return elf_section{found->sh_addr - (first->p_vaddr - first->p_offset), found->sh_size};
}

}  // namespace filch::cli
