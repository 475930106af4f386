// In this program every object on the heap begins on a cache line of its own, and larger ones on a block or a page of
// data_memory. Otherwise it would depend on all that the program has allocated before, such as the words of its command
// line, which objects of a simulated program share a line or a page, and so would its results.
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t block_bytes = 256;
constexpr std::size_t page_bytes = 4096;

void* line_aligned(std::size_t bytes) noexcept {
  const std::size_t alignment = bytes < block_bytes ? line_bytes : bytes < page_bytes ? block_bytes : page_bytes;
  const std::size_t whole = bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, whole);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const memory = line_aligned(bytes)) return memory;
  throw std::bad_alloc();
}

// A sanitizer's own would not call the one above.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept { return line_aligned(bytes); }

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
