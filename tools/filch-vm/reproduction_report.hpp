// What 'filch reproduce' found, as JSON for programs and as text for people.
#pragma once

#include <string>
#include <vector>

#include "reproduction_values.hpp"

namespace filch::cli {

/// Of one experiment.
struct reproduction_result {
  std::string name;   ///< "lazy/table5"
  std::string scale;  ///< "small" or "paper"
  reproduction what;
  std::vector<measured_point> points;
  std::vector<judged_claim> claims;
};

/// Title, a table for each metric with the paper's figures beside ours, and a line for each claim.
std::string to_text(const reproduction_result& result);

/// {"experiment", "title", "scale", "filch_version", "points": [...], "claims": [...]}.
std::string to_json(const reproduction_result& result);

}  // namespace filch::cli
