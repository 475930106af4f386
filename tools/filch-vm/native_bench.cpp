#include "native_bench.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "child_process.hpp"
#include "sibling_program.hpp"

namespace filch::cli {

nlohmann::json native_bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--json", "-"});
  return nlohmann::json::parse(output_of(sibling_program("filch"), arguments));
}

const nlohmann::json& row_of(const nlohmann::json& report, const std::string& workload, const std::string& runner,
                             int workers) {
  for (const nlohmann::json& row : report.at("rows")) {
    const std::string label = row.at("workload").get<std::string>() + ":" + row.at("size").get<std::string>();
    if (label == workload && row.at("runner") == runner && row.at("workers") == workers) return row;
  }
  throw std::runtime_error(
      fmt::format("'filch bench' gave no row of {} on {} with {} workers", workload, runner, workers));
}

}  // namespace filch::cli
