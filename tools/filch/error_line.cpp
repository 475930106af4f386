#include "error_line.hpp"

#include <cstdio>
#include <new>

#include <fmt/format.h>

#include "printable.hpp"

namespace filch::cli {

namespace {

constexpr std::string_view name_in_front = "filch: ";

}  // namespace

void print_error(std::string_view message) {
  const std::string line =
      fmt::format("{}{}\n", message.starts_with(name_in_front) ? "" : name_in_front, bench::printable(message));
  static_cast<void>(std::fputs(line.c_str(), stderr));  // where it cannot be written, the exit status still tells
}

std::string message_of(const std::exception& error) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  if (is_memory) return "there is not enough memory for what was asked; give a smaller size";
  const std::string_view said = error.what();
  return std::string(said.substr(said.starts_with(name_in_front) ? name_in_front.size() : 0));
}

}  // namespace filch::cli
