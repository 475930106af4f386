// How errors are told: one line on standard error that begins with the program's name.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace filch::cli {

/// Prints the message, whatever is in it, as one line. What the library throws has the name in front already.
void print_error(std::string_view message);

/// What the exception says, without the program's name; of too little memory, what helps.
std::string message_of(const std::exception& error);

}  // namespace filch::cli
