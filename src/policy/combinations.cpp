#include <algorithm>

#include <filch/combinations.hpp>

#include "policy/table.hpp"

namespace filch {

const std::vector<combination>& combinations() {
  static const std::vector<combination> all = [] {
    std::vector<std::string_view> joins;
    for (const detail::join_row& join : detail::join_table()) joins.push_back(join.name);
    std::vector<combination> made;
    for (const detail::policy_row& row : detail::policy_table()) {
      made.push_back({.policy = row.name,
                      .joins = joins,
                      .default_join = joins.front(),
                      .loops = row.loops,
                      .default_loop = row.loops.front(),
                      .options = row.options,
                      .summary = row.summary});
    }
    return made;
  }();
  return all;
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

std::string_view name_of(loop_kind kind) {
  switch (kind) {
    case loop_kind::standard:
      return "standard";
    case loop_kind::work_first:
      return "work_first";
    case loop_kind::help_first:
      return "help_first";
    case loop_kind::simple:
      return "simple";
    case loop_kind::automatic:
      return "auto";
    case loop_kind::lazy_depth:
      return "lazy_depth";
    case loop_kind::lazy_depth2:
      return "lazy_depth2";
    case loop_kind::lazy_breadth:
      return "lazy_breadth";
    case loop_kind::fixed:
      return "static";
    case loop_kind::dynamic:
      return "dynamic";
    case loop_kind::inherited:
      break;
  }
  return "";
}

}  // namespace filch
