// Text from outside that becomes part of a line for people.
#pragma once

#include <string>
#include <string_view>

namespace filch::bench {

/// The text with a space for white space of any kind, and with a question mark for other control characters: a terminal
/// would obey them, lines would end early, and messages of exceptions end at a NUL.
std::string printable(std::string_view text);

}  // namespace filch::bench
