// The table of mutations as a file, docs/protocols/mutations.md. It is read before it is made anew: who noticed a
// weaker order before is asked first, and a check of some tags leaves the rows of the others as they are.
#pragma once

#include <string>
#include <vector>

namespace filch::explore {

struct table_row {
  std::string tag;
  std::string where;  ///< file; the tag says the rest, for longer than the number of a line would
  std::string operation;
  std::string order;
  std::string weakened;    ///< the order instead
  std::string noticed_by;  ///< a scenario, or what to say about nobody
  std::string how;

  [[nodiscard]] bool is_of_operation(const table_row& other) const {
    return tag == other.tag && where == other.where && operation == other.operation;
  }
  /// The same damage, whatever the file is by now.
  [[nodiscard]] bool is_like(const table_row& other) const {
    return tag == other.tag && operation == other.operation && weakened == other.weakened;
  }
};

/// The rows of a table that was written before; none when there is no such file.
[[nodiscard]] std::vector<table_row> read_table(const std::string& file);

/// Writes the rows, file by file.
/// @throws std::runtime_error when the file cannot be written.
void write_table(const std::vector<table_row>& rows, double seconds, const std::string& file);

}  // namespace filch::explore
