#include "workload_choice.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "option_value.hpp"

namespace filch::cli {

workload_choice choose_workload(const std::string& text, default_size otherwise) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto& all = bench::workloads();
  const auto found = std::ranges::find(all, name, &bench::workload::name);
  if (found == all.end()) {
    std::vector<std::string_view> known;
    std::ranges::transform(all, std::back_inserter(known), &bench::workload::name);
    require_known("workload", name, known, "'filch list' shows all workloads");
  }
  return {&*found, colon == std::string::npos ? (*found).*otherwise : text.substr(colon + 1)};
}

std::vector<workload_choice> choose_workloads(const std::vector<std::string>& texts, default_size otherwise) {
  std::vector<workload_choice> choices;
  if (texts.empty()) {
    for (const bench::workload& each : bench::workloads()) {
      choices.push_back({&each, each.*otherwise});
    }
    return choices;
  }
  for (const std::string& text : texts) {
    choices.push_back(choose_workload(text, otherwise));
    choices.back().make();
  }
  return choices;
}

}  // namespace filch::cli
