// Closures in messages: which type, and its bytes.
#pragma once

#include <filch/detail/place_task.hpp>

#include "places/message.hpp"

namespace filch::detail::places {

/// Appends the record's closure. @throws what the closure's codec throws; std::bad_alloc.
void write_closure(const task_record& r, message& to);
/// Makes the next closure of a message, in an empty record.
/// @throws std::runtime_error when this program does not know its type; what the closure's codec throws.
void read_closure(message_reader& from, task_record& into);

}  // namespace filch::detail::places
