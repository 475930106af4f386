// Closures in messages: which type, by the module and the offset in it where its description is, and its bytes.
#pragma once

#include <span>

#include <filch/detail/place_task.hpp>

#include "places/message.hpp"

namespace filch::detail::places {

/// Appends the record's closure. @throws what the closure's codec throws; std::runtime_error when its code is in no module;
/// std::bad_alloc.
void write_closure(const task_record& r, message& to);
/// The next closure of a message.
struct closure_in_message {
  const closure_type* type;  ///< null: of a library that is not loaded here
  std::span<const std::byte> bytes;
};
[[nodiscard]] closure_in_message next_closure(message_reader& from);

}  // namespace filch::detail::places
