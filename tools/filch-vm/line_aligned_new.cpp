// In this program every object on the heap begins on a cache line of its own, and one that is larger than a block of
// data_memory on a page of its own. Otherwise it would depend on all that the program has allocated before, such as the
// words of its command line, which objects of a simulated program share a line or a page, and so would its results. Nor
// do two nodes share a line by chance; and the virtual machine hears of all that is given out, which may have been
// another node's.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <filch/vm/data_units.hpp>
#include <filch/vm/simulation.hpp>

namespace {

using filch::platform::vm::block_bytes;
using filch::platform::vm::line_bytes;
using filch::platform::vm::page_bytes;

void* given_out(std::size_t alignment, std::size_t bytes) noexcept {
  const std::size_t whole = bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole);
  if (memory != nullptr) filch::vm::note_allocation(memory, whole);
  return memory;
}

void* line_aligned(std::size_t bytes) noexcept {
  const std::size_t alignment = bytes < block_bytes ? line_bytes : page_bytes;
  return given_out(alignment, bytes);
}

void* aligned(std::size_t bytes, std::align_val_t alignment) noexcept {
  return given_out(std::max(static_cast<std::size_t>(alignment), line_bytes), bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const memory = line_aligned(bytes)) return memory;
  throw std::bad_alloc();
}

// Those that do not throw, and those for arrays, are written out: a sanitizer's own would not call the one above.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept { return line_aligned(bytes); }

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

// Of types with an alignment of their own: as the library's, but for the word to the virtual machine.
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const memory = aligned(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return aligned(bytes, alignment);
}

void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

void* operator new[](std::size_t bytes) { return operator new(bytes); }

void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept { return line_aligned(bytes); }

void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }

void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return aligned(bytes, alignment);
}

void operator delete[](void* memory) noexcept { std::free(memory); }

void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

void operator delete[](void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
