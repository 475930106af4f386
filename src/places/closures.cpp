#include "places/closures.hpp"

#include <cstddef>

#include <filch/detail/worker_core.hpp>

namespace filch::detail::places {

namespace {

/// What the types of closures are named by: their distance from here. So all of them have to be in one module with this
/// library, which has to be linked statically.
const std::byte* origin() noexcept { return reinterpret_cast<const std::byte*>(&foreign_worker); }

}  // namespace

void write_closure(const task_record& r, message& to) {
  const closure_type* const type = r.type.load();
  const std::ptrdiff_t offset = reinterpret_cast<const std::byte*>(type) - origin();
  std::vector<std::byte> bytes;
  type->write(r, bytes);
  message_writer(to).add(offset).add(bytes.size()).add_bytes(bytes);
}

closure_in_message next_closure(message_reader& from) noexcept {
  const auto offset = from.get<std::ptrdiff_t>();
  const auto* const type = reinterpret_cast<const closure_type*>(origin() + offset);
  return {type, from.get_bytes(from.get<std::size_t>())};
}

}  // namespace filch::detail::places
