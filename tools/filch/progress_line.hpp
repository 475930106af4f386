// A line on the terminal that says what long work is busy with, and disappears when it is done.
#pragma once

#include <string_view>

namespace filch::cli {

/// Writes to stderr, and only when that is a terminal.
class progress_line {
 public:
  progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { clear(); }

  void show(std::string_view text);
  void clear() noexcept;

 private:
  bool visible_;
};

}  // namespace filch::cli
