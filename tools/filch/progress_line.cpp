#include "progress_line.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "printable.hpp"

namespace filch::cli {

progress_line::progress_line() : visible_(isatty(STDERR_FILENO) == 1) {}

void progress_line::show(std::string_view text) {
  if (visible_) {
    clear();
    fmt::print(stderr, "{}", bench::printable(text));
    std::fflush(stderr);
  }
}

void progress_line::clear() noexcept {
  if (visible_) {
    std::fputs("\r\033[K", stderr);  // back to the first column, erase to the end of the line
  }
}

}  // namespace filch::cli
