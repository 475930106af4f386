// A closure that may run at another place, and the record that holds it until it runs.
//
// The address of a closure_type names the type in messages, as an offset into its module: all places run the same
// program, each at addresses of its own. What is trivially copyable and fits travels as its bytes. Anything else needs a
// closure_codec: <filch/places_cereal.hpp> has one for what cereal can write and read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/config.hpp>
#include <filch/detail/task.hpp>
#include <filch/platform/memory.hpp>

namespace filch::places {

/// How a closure is written into a message and read from it. A specialisation has
///   static void write(const F& f, std::vector<std::byte>& to);   // appends
///   static F read(std::span<const std::byte> from);
/// and both may throw.
template <class F>
struct closure_codec;

/// Largest closure, in bytes, that travels as it is.
inline constexpr std::size_t most_closure_bytes = 480;

}  // namespace filch::places

namespace filch::detail::places {

struct task_record;

/// What can be done with closures of one type.
struct closure_type {
  /// Bytes of a record's room that it takes.
  std::size_t room;
  /// Takes the closure out of the record, frees that, and calls the closure.
  void (*run)(task_record&);
  /// Appends the closure's bytes to a message.
  void (*write)(const task_record&, std::vector<std::byte>&);
  /// Makes the closure, in an empty record, of the same bytes.
  void (*read)(task_record&, std::span<const std::byte>);
  /// Destroys the closure; the record is empty then. For one that goes on elsewhere, or that is not going to run.
  void (*drop)(task_record&) noexcept;
};

/// The closure lies behind it. There are two sizes of records; small ones have room for most closures.
struct alignas(16) task_record : task {
  platform::shared<const closure_type*> type;
  platform::shared<task_record*> next;  ///< of a pool's free records
  std::uint32_t pool = 0;               ///< that the record is from
  bool is_large = false;

  [[nodiscard]] std::byte* closure() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] const std::byte* closure() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
};

/// Gives a record back to its pool. The calling thread is a worker of the record's place.
FILCH_API void release(task_record& r) noexcept;

/// Something at an address that is another one at each place.
template <class F>
inline constexpr bool is_address = std::is_pointer_v<F> || std::is_member_pointer_v<F>;
template <class T>
inline constexpr bool is_address<std::reference_wrapper<T>> = true;

template <class F>
concept travels_as_bytes = !is_address<F> && std::is_trivially_copyable_v<F> &&
                           sizeof(F) <= filch::places::most_closure_bytes && alignof(F) <= 16;

template <class F>
concept has_codec = requires(const F& f, std::vector<std::byte>& to, std::span<const std::byte> from) {
  filch::places::closure_codec<F>::write(f, to);
  { filch::places::closure_codec<F>::read(from) } -> std::same_as<F>;
};

/// Bytes of a record's room that a closure of that type takes.
template <class F>
inline constexpr std::size_t room_of = travels_as_bytes<F> ? sizeof(F) : sizeof(F*);

/// A closure that is bytes. It need not be copy-constructible: nothing but bytes is copied.
template <class F>
struct closure_bytes_of {
  template <class G>
  static void store(task_record& r, G&& from) {
    ::new (static_cast<void*>(r.closure())) F(std::forward<G>(from));
  }
  static void run(task_record& r) {
    alignas(F) std::byte bytes[sizeof(F)];
    std::memcpy(bytes, r.closure(), sizeof(F));
    release(r);
    std::move (*std::launder(reinterpret_cast<F*>(bytes)))();
  }
  static void write(const task_record& r, std::vector<std::byte>& to) {
    to.insert(to.end(), r.closure(), r.closure() + sizeof(F));
  }
  static void read(task_record& r, std::span<const std::byte> from) {
    std::memcpy(r.closure(), from.data(), from.size());
  }
  static void drop(task_record& /*r*/) noexcept {}  // what is trivially copyable has no destructor to be called
};

/// A closure on the heap, whose address is in the record; written only if it travels.
template <class F>
struct closure_on_heap {
  static void store_address(task_record& r, F* f) noexcept { std::memcpy(r.closure(), &f, sizeof f); }
  static F* address(const task_record& r) noexcept {
    F* f = nullptr;
    std::memcpy(&f, r.closure(), sizeof f);
    return f;
  }
  template <class G>
  static void store(task_record& r, G&& from) {
    store_address(r, new F(std::forward<G>(from)));
  }
  static void run(task_record& r) {
    const std::unique_ptr<F> f(address(r));
    release(r);
    std::move (*f)();
  }
  static void write(const task_record& r, std::vector<std::byte>& to) {
    filch::places::closure_codec<F>::write(*address(r), to);
  }
  static void read(task_record& r, std::span<const std::byte> from) {
    store_address(r, new F(filch::places::closure_codec<F>::read(from)));
  }
  static void drop(task_record& r) noexcept { delete address(r); }
};

template <class F>
struct unsendable {
  static_assert(
      travels_as_bytes<F> || has_codec<F>,
      "filch: this closure cannot travel to another place: it is not trivially copyable, or larger than 480 "
      "bytes, or aligned to more than 16, or the address of a function (put a lambda around the call). Capture values "
      "instead of containers, or include <filch/places_cereal.hpp> and give a function "
      "object with serialize(Archive&)");
};

template <class F>
using closure_kind = std::conditional_t<travels_as_bytes<F>, closure_bytes_of<F>, closure_on_heap<F>>;

template <class F>
inline constexpr closure_type type_of{room_of<F>, &closure_kind<F>::run, &closure_kind<F>::write,
                                      &closure_kind<F>::read, &closure_kind<F>::drop};

}  // namespace filch::detail::places
