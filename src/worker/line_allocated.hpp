// Base of small objects on the heap that begin with a cache line of their own. The system's aligned allocation splits and
// joins blocks each time, which costs more than all else that a small group needs; so this one takes an ordinary block that
// is a line longer, and notes before the object where it begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace filch::detail {

class line_allocated {
 public:
  static void* operator new(std::size_t bytes) { return align(::operator new(bytes + line)); }
  static void* operator new(std::size_t bytes, const std::nothrow_t& tag) noexcept {
    void* const block = ::operator new(bytes + line, tag);
    return block != nullptr ? align(block) : nullptr;
  }
  static void operator delete(void* object) noexcept {
    if (object != nullptr) ::operator delete(static_cast<void**>(object)[-1]);
  }
  static void operator delete(void* object, const std::nothrow_t& /*tag*/) noexcept { operator delete(object); }

 private:
  static constexpr std::size_t line = 64;

  static void* align(void* block) noexcept {
    static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(void*));  // so much there is before the object
    char* const begin = static_cast<char*>(block);
    void* const object = begin + (line - reinterpret_cast<std::uintptr_t>(block) % line);
    static_cast<void**>(object)[-1] = block;
    return object;
  }
};

}  // namespace filch::detail
