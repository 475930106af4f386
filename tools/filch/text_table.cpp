#include "text_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "printable.hpp"

namespace filch::cli {

void text_table::add_row(std::vector<std::string> cells) {
  std::ranges::transform(cells, cells.begin(), bench::printable);
  rows_.push_back(std::move(cells));
}

std::string text_table::to_string() const {
  std::string text;
  const auto add_line = [&](const auto& cell_at) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string padding(width(i) - cell_at(i).size(), ' ');
      line += i == 0 ? "" : "  ";
      line += columns_[i].side == align::left ? cell_at(i) + padding : padding + cell_at(i);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t i) { return columns_[i].title; });
  for (const auto& row : rows_) {
    add_line([&](std::size_t i) { return row[i]; });
  }
  return text;
}

std::size_t text_table::width(std::size_t index) const {
  std::size_t widest = columns_[index].title.size();
  for (const auto& row : rows_) {
    widest = std::max(widest, row[index].size());
  }
  return widest;
}

std::string format_seconds(double seconds) {
  struct unit_of_time {
    double seconds;
    const char* name;
  };
  constexpr std::array<unit_of_time, 4> units{{{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  const auto fitting = std::ranges::find_if(units, [&](const unit_of_time& unit) { return seconds >= unit.seconds; });
  const unit_of_time& unit = fitting == units.end() ? units.back() : *fitting;
  const double value = seconds / unit.seconds;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : (value < 100 ? 1 : 0), unit.name);
}

}  // namespace filch::cli
