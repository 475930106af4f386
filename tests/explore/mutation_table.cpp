#include "mutation_table.hpp"

#include <array>
#include <cstddef>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace filch::explore {
namespace {

using namespace std::string_view_literals;

constexpr std::array columns{&table_row::tag,      &table_row::where,      &table_row::operation, &table_row::order,
                             &table_row::weakened, &table_row::noticed_by, &table_row::how};
constexpr std::array titles{"tag"sv, "where"sv, "operation"sv, "order"sv, "weakened to"sv, "noticed by"sv, "how"sv};

}  // namespace

std::vector<table_row> read_table(const std::string& file) {
  std::vector<table_row> rows;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    table_row row;
    std::size_t from = line.starts_with("| ") ? 2 : std::string::npos;
    for (std::string table_row::* const column : columns) {
      if (from == std::string::npos) break;
      const std::size_t end = line.find(" |", from);
      if (end != std::string::npos) row.*column = line.substr(from, end - from);
      from = end == std::string::npos || end + 3 > line.size() ? std::string::npos : end + 3;
    }
    if (row.where.find('/') != std::string::npos) rows.push_back(std::move(row));
  }
  return rows;
}

void write_table(const std::vector<table_row>& rows, double seconds, const std::string& file) {
  // Those of one file stay in their order.
  std::multimap<std::string_view, const table_row*> by_file;
  for (const table_row& row : rows) by_file.emplace(row.where, &row);
  std::ofstream out(file);
  out << "# What happens when a memory order is weakened\n\n"
         "Made by `filch_explore --mutations`; not to be edited. Each memory order of the scheduler that is stronger "
         "than\n"
         "relaxed, made one step weaker, and the exploration that noticed it first. What nobody noticed in "
      << seconds << " s is\nmade weaker still, step by step; the comment at its tag says why the order is there.\n\n";
  for (const std::string_view title : titles) out << "| " << title << ' ';
  out << "|\n";
  for (std::size_t i = 0; i < titles.size(); ++i) out << "|---";
  out << "|\n";
  for (const auto& [name, row] : by_file) {
    for (std::string table_row::* const column : columns) out << "| " << row->*column << ' ';
    out << "|\n";
  }
  if (!out.flush()) throw std::runtime_error("filch_explore: cannot write '" + file + "'");
}

}  // namespace filch::explore
