// Maps of schedules as pictures: which worker computed which part of the plane, as in Figure 1 of the ADWS paper (Shiina
// and Taura 2019).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drawing.hpp"
#include "work_map.hpp"

namespace filch::cli {

/// One schedule.
struct captioned_map {
  std::string caption;
  int workers;
  bench::work_map map;
};

/// Below the title a column of panels for each schedule, one for each iteration that the map has. Colours of tiles go from blue to red
/// with the numbers of workers; a bar below shows them. Of the points each k-th is drawn if there are more than 10,000.
/// Throws std::runtime_error when this program was built without drawing.
std::unique_ptr<drawing> draw_maps(const std::string& title, const std::vector<captioned_map>& maps);

}  // namespace filch::cli
