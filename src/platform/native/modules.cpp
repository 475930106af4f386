#include "platform/modules.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <elf.h>
#include <link.h>

namespace filch::platform {

namespace {

/// Set in the ids of modules that came later.
constexpr std::uint32_t came_later = std::uint32_t{1} << 31;

// FNV-1a, in words of eight bytes where there are that many.
std::uint64_t hash_of(const void* data, std::size_t bytes, std::uint64_t hash = 14695981039346656037U) noexcept {
  const auto* at = static_cast<const unsigned char*>(data);
  constexpr std::uint64_t prime = 1099511628211U;
  for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t), at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    hash = (hash ^ word) * prime;
    hash ^= hash >> 32U;
  }
  for (; bytes > 0; --bytes, ++at) hash = (hash ^ *at) * prime;
  return hash;
}

void append_hex(std::string& to, const unsigned char* bytes, std::size_t count) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (std::size_t i = 0; i < count; ++i) {
    to += digits[bytes[i] >> 4U];
    to += digits[bytes[i] & 15U];
  }
}

/// What the GNU linker's note says in a segment of notes; empty if it has none.
std::string build_id_in(const unsigned char* notes, std::size_t bytes) {
  const auto padded = [](std::size_t n) { return (n + 3) / 4 * 4; };
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes, sizeof head);
    const std::size_t length = sizeof head + padded(head.n_namesz) + padded(head.n_descsz);
    if (length > bytes) break;
    const unsigned char* name = notes + sizeof head;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string id;
      append_hex(id, name + padded(head.n_namesz), head.n_descsz);
      return id;
    }
    notes += length;
    bytes -= length;
  }
  return {};
}

module described(const dl_phdr_info& info) {
  module m{0, {}, {}, UINTPTR_MAX, 0};
  const std::string_view path = info.dlpi_name != nullptr ? info.dlpi_name : "";
  m.name = path.empty() ? "the program" : std::string(path.substr(path.rfind('/') + 1));
  std::uint64_t code = 0;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    // The system says where it is as a number.
    const auto* bytes = std::bit_cast<const unsigned char*>(begin);
    if (segment.p_type == PT_LOAD) {
      m.begin = std::min(m.begin, begin);
      m.end = std::max(m.end, begin + segment.p_memsz);
    } else if (segment.p_type == PT_NOTE && m.version.empty()) {
      m.version = build_id_in(bytes, segment.p_memsz);
    }
  }
  if (!m.version.empty()) return m;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    // Code that is read and never written is the same wherever it is mapped.
    if (segment.p_type != PT_LOAD || segment.p_flags != (PF_R | PF_X)) continue;
    const auto* bytes = std::bit_cast<const void*>(info.dlpi_addr + segment.p_vaddr);
    code = hash_of(bytes, segment.p_filesz, code);
  }
  m.version = "code ";
  append_hex(m.version, reinterpret_cast<const unsigned char*>(&code), sizeof code);
  return m;
}

/// The modules known so far. A list is never changed once it is shown; an older one stays, for those that look at it.
class module_list {
 public:
  module_list() { extend(); }

  [[nodiscard]] const std::vector<module>& first() const { return *lists_.front(); }
  [[nodiscard]] const std::vector<module>& newest() const {
    // acquire: pairs with the release in extend(); what the list says has been written.
    return *newest_.load(std::memory_order_acquire);
  }

  /// Adds those that have been loaded since. @return false if there are none.
  bool extend() {
    const std::lock_guard lock(mutex_);
    const std::vector<module>* old = lists_.empty() ? nullptr : lists_.back().get();
    auto next = std::make_unique<std::vector<module>>();
    if (old != nullptr) *next = *old;
    const std::size_t known = next->size();
    dl_iterate_phdr(&module_list::add, next.get());
    if (old != nullptr && next->size() == known) return false;
    for (std::size_t i = known; i < next->size(); ++i) {
      module& m = (*next)[i];
      const std::uint64_t hash = hash_of(m.name.data(), m.name.size(), hash_of(m.version.data(), m.version.size()));
      m.id = old == nullptr ? static_cast<std::uint32_t>(i) : static_cast<std::uint32_t>(hash) | came_later;
    }
    lists_.push_back(std::move(next));
    newest_.store(lists_.back().get(), std::memory_order_release);  // release: see newest()
    return true;
  }

 private:
  static int add(dl_phdr_info* info, std::size_t /*size*/, void* into) {
    auto& list = *static_cast<std::vector<module>*>(into);
    const std::string_view name = info->dlpi_name != nullptr ? info->dlpi_name : "";
    if (name.starts_with("linux-vdso") || name.starts_with("linux-gate")) return 0;
    module found = described(*info);
    const bool is_known = std::any_of(list.begin(), list.end(),
                                      [&](const module& m) { return m.begin == found.begin && m.end == found.end; });
    if (!is_known && found.begin < found.end) list.push_back(std::move(found));
    return 0;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<std::vector<module>>> lists_;
  std::atomic<const std::vector<module>*> newest_{nullptr};
};

module_list& known_modules() {
  static module_list list;
  return list;
}

/// What `of` gives for the first module of which it gives anything; a miss lists modules anew, once.
template <class Of>
auto first_of(const Of& of) -> decltype(of(std::declval<const module&>())) {
  module_list& list = known_modules();
  do {
    for (const module& m : list.newest())
      if (const auto found = of(m)) return found;
  } while (list.extend());
  return {};
}

}  // namespace

const std::vector<module>& modules_at_start() { return known_modules().first(); }

std::optional<code_location> locate(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return first_of([=](const module& m) -> std::optional<code_location> {
    if (at < m.begin || at >= m.end) return std::nullopt;
    return code_location{m.id, at - m.begin};
  });
}

const void* address_of(code_location where) {
  return first_of([=](const module& m) -> const void* {
    if (m.id != where.module || where.offset >= m.end - m.begin) return nullptr;
    return std::bit_cast<const void*>(m.begin + where.offset);
  });
}

}  // namespace filch::platform
