#include "places/closures.hpp"

#include <cstdint>

#include <filch/detail/worker_core.hpp>

namespace filch::detail::places {

void write_closure(const task_record& r, message& to) {
  const closure_type* const type = r.type.load();
  const auto offset = reinterpret_cast<std::uintptr_t>(type) - reinterpret_cast<std::uintptr_t>(&foreign_worker);
  std::vector<std::byte> bytes;
  type->write(r, bytes);
  message_writer(to).add(offset).add(bytes.size()).add_bytes(bytes);
}

closure_in_message next_closure(message_reader& from) noexcept {
  const auto offset = from.get<std::uintptr_t>();
  const auto* const type =
      reinterpret_cast<const closure_type*>(offset + reinterpret_cast<std::uintptr_t>(&foreign_worker));
  return {type, from.get_bytes(from.get<std::size_t>())};
}

}  // namespace filch::detail::places
