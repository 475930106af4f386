// Which policies, joins and ways of splitting loops exist, and which of them go together: the one table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <filch/config.hpp>
#include <filch/loop.hpp>

namespace filch {

/// One policy and what it can be combined with.
struct combination {
  std::string_view policy;
  std::vector<std::string_view> joins;
  std::string_view default_join;
  std::vector<loop_kind> loops;
  loop_kind default_loop;
  /// Members of `options` that mean something to this policy, and not to all: "steal_half", "deal_interval_ns".
  std::vector<std::string_view> options;
  std::string_view summary;
};

/// One way to split loops.
struct way_to_split {
  loop_kind kind;
  std::string_view name;
  std::string_view type;  ///< that of filch::loop; a name as well
  std::string_view summary;
};

/// All of them, in the order of the documentation; which policies they go with, combinations() says.
FILCH_API const std::vector<way_to_split>& ways_to_split();

/// The name by which a way to split loops is chosen: "standard", "auto", "lazy_breadth". Empty for `inherited`.
FILCH_API std::string_view name_of(loop_kind kind);

/// The way of that name, or of that type: "auto" and "automatic" are one. `inherited`: there is none.
FILCH_API loop_kind loop_named(std::string_view name);

/// Does that member of `options` mean anything to the policy? So it is for those that no policy's row names.
FILCH_API bool goes_with(std::string_view option, const combination& policy);

/// Does a worker that waits with that join run descendants of what it waits for, and nothing else? Then a lock may be held
/// across a wait, with all policies but `adws_nosteal` and, in parts that are `repeated`, `constrained`.
FILCH_API bool has_safe_waits(std::string_view join);

/// The policies that an option goes with, for messages: "lace, receiver or sender".
FILCH_API std::string policies_with(std::string_view option);

/// All policies, in the order of the documentation.
FILCH_API const std::vector<combination>& combinations();

}  // namespace filch
