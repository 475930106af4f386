// Which policies, joins and ways of splitting loops exist, and which of them go together: the one table.
#pragma once

#include <string_view>
#include <vector>

namespace filch {

/// One policy and what it can be combined with.
struct combination {
  std::string_view policy;
  std::vector<std::string_view> joins;
  std::string_view default_join;
  std::string_view summary;
};

/// All policies, in the order of the documentation.
const std::vector<combination>& combinations();

}  // namespace filch
