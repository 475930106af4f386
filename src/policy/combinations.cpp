#include <algorithm>

#include <filch/combinations.hpp>

#include "policy/table.hpp"

namespace filch {

const std::vector<combination>& combinations() {
  static const auto& all = *new const std::vector<combination>([] {
    std::vector<combination> made;
    for (const detail::policy_row& row : detail::policy_table()) {
      std::vector<std::string_view> joins;
      for (const detail::join_row& join : detail::join_table()) {
        const bool goes = join.policies.empty() ||
                          std::find(join.policies.begin(), join.policies.end(), row.name) != join.policies.end();
        if (goes) joins.push_back(join.name);
      }
      made.push_back({.policy = row.name,
                      .joins = joins,
                      .default_join = joins.front(),
                      .loops = row.loops,
                      .default_loop = row.loops.front(),
                      .options = row.options,
                      .summary = row.summary});
    }
    return made;
  }());
  return all;
}

bool has_safe_waits(std::string_view join) {
  const auto& all = detail::join_table();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.name == join && each.is_safe; });
}

bool goes_with(std::string_view option, const combination& policy) {
  const auto names = [&](const combination& each) {
    return std::find(each.options.begin(), each.options.end(), option) != each.options.end();
  };
  return names(policy) || std::none_of(combinations().begin(), combinations().end(), names);
}

std::string policies_with(std::string_view option) {
  std::string text;
  std::string_view last;
  for (const combination& each : combinations()) {
    if (!goes_with(option, each)) continue;
    if (!last.empty()) text += (text.empty() ? "" : ", ") + std::string(last);
    last = each.policy;
  }
  return text.empty() ? std::string(last) : text + " or " + std::string(last);
}

const std::vector<way_to_split>& ways_to_split() {
  using enum loop_kind;
  static const auto& all = *new const std::vector<way_to_split>{
      {standard, "standard", "standard", "the default: half of the oldest loop is cut off when somebody asks for work"},
      {lazy_breadth, "lazy_breadth", "lazy_breadth",
       "half of the oldest loop is offered whenever nothing is (BF-LS, 2014)"},
      {lazy_depth, "lazy_depth", "lazy_depth",
       "half of the innermost loop is offered whenever nothing is (DF-LS, 2014)"},
      {lazy_depth2, "lazy_depth2", "lazy_depth2",
       "the same whenever fewer than two pieces are on offer (DF2-LS, 2014)"},
      {automatic, "auto", "automatic", "halved into 4 P chunks; a stolen one into at least 4 more (AP)"},
      {simple, "simple", "simple", "halved down to the grain at once (SP)"},
      {work_first, "work_first", "work_first",
       "one descriptor for all that is left; whoever takes it runs one chunk and passes it on"},
      {help_first, "help_first", "help_first", "one task for each chunk, all made before the first runs"},
      {fixed, "static", "fixed", "P equal parts, made at once"},
      {dynamic, "dynamic", "dynamic", "chunks of the grain, handed out one after the other"},
  };
  return all;
}

std::string_view name_of(loop_kind kind) {
  const auto& all = ways_to_split();
  const auto way = std::find_if(all.begin(), all.end(), [&](const way_to_split& each) { return each.kind == kind; });
  return way != all.end() ? way->name : "";
}

loop_kind loop_named(std::string_view name) {
  const auto& all = ways_to_split();
  const auto way = std::find_if(all.begin(), all.end(),
                                [&](const way_to_split& each) { return each.name == name || each.type == name; });
  return way != all.end() ? way->kind : loop_kind::inherited;
}

}  // namespace filch
