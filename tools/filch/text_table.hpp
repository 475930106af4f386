// A table of text with aligned columns, for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace filch::cli {

class text_table {
 public:
  enum class align { left, right };
  struct column {
    std::string title;
    align side = align::left;
  };

  explicit text_table(std::vector<column> columns) : columns_(std::move(columns)) {}

  /// One cell for each column. What is not printable in it is replaced: names of files are among the cells.
  void add_row(std::vector<std::string> cells);

  /// Title line and rows, each ended by a newline; columns are two spaces apart.
  std::string to_string() const;

 private:
  std::size_t width(std::size_t index) const;

  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Three significant digits and a unit: "12.3 ns", "4.56 us", "789 ms", "1.23 s".
std::string format_seconds(double seconds);

}  // namespace filch::cli
