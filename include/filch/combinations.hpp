// Which policies, joins and ways of splitting loops exist, and which of them go together: the one table.
#pragma once

#include <string_view>
#include <vector>

#include <filch/loop.hpp>

namespace filch {

/// One policy and what it can be combined with.
struct combination {
  std::string_view policy;
  std::vector<std::string_view> joins;
  std::string_view default_join;
  std::vector<loop_kind> loops;
  loop_kind default_loop;
  std::string_view summary;
};

/// The name by which a way to split loops is chosen: "standard", "auto", "lazy_breadth". Empty for `inherited`.
std::string_view name_of(loop_kind kind);

/// All policies, in the order of the documentation.
const std::vector<combination>& combinations();

}  // namespace filch
