// The table of mutations as a file, docs/protocols/mutations.md. It is read before it is made anew: who noticed a
// weaker order before is asked first, and a check of some tags leaves the rows of the others as they are.
#pragma once

#include <string>
#include <vector>

namespace filch::explore {

struct table_row {
  std::string tag;
  std::string where;  ///< file:line
  std::string operation;
  std::string order;
  std::string weakened;    ///< the order instead
  std::string noticed_by;  ///< a scenario, or what to say about nobody
  std::string how;

  /// The same damage, wherever the line is by now.
  [[nodiscard]] bool is_like(const table_row& other) const {
    return tag == other.tag && operation == other.operation && weakened == other.weakened;
  }
};

/// The rows of a table that was written before; none when there is no such file.
[[nodiscard]] std::vector<table_row> read_table(const std::string& file);

/// Writes the rows in the order of their places.
/// @throws std::runtime_error when the file cannot be written.
void write_table(const std::vector<table_row>& rows, double seconds, const std::string& file);

}  // namespace filch::explore
