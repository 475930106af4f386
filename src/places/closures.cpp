#include "places/closures.hpp"

#include <optional>
#include <stdexcept>

#include "platform/modules.hpp"

namespace filch::detail::places {

void write_closure(const task_record& r, message& to) {
  const closure_type* const type = r.type.load();
  const std::optional<platform::code_location> where = platform::locate(type);
  if (!where) throw std::runtime_error("filch: a task's code is in no file that other places could load");
  std::vector<std::byte> bytes;
  type->write(r, bytes);
  message_writer(to).add(where->module).add(where->offset).add(bytes.size()).add_bytes(bytes);
}

closure_in_message next_closure(message_reader& from) {
  platform::code_location where{};
  where.module = from.get<std::uint32_t>();
  where.offset = from.get<std::uint64_t>();
  const auto* const type = static_cast<const closure_type*>(platform::address_of(where));
  return {type, from.get_bytes(from.get<std::size_t>())};
}

}  // namespace filch::detail::places
