#include "error_line.hpp"

#include <cstdio>
#include <new>

#include <fmt/format.h>

#include "printable.hpp"

namespace filch::cli {

void print_error(std::string_view message) {
  constexpr std::string_view name = "filch: ";
  const std::string line = fmt::format("{}{}\n", message.starts_with(name) ? "" : name, bench::printable(message));
  static_cast<void>(std::fputs(line.c_str(), stderr));  // where it cannot be written, the exit status still tells
}

std::string message_of(const std::exception& error) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return is_memory ? "there is not enough memory for what was asked; give a smaller size" : error.what();
}

}  // namespace filch::cli
