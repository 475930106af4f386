// What 'filch bench', the program beside this one, measures on real processors.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace filch::cli {

/// Runs it with these arguments. Throws std::runtime_error when it fails.
nlohmann::json native_bench(std::vector<std::string> arguments);

/// The row of a report with that workload and size ("fib:34"), runner and number of workers. Throws std::runtime_error
/// when it has none.
const nlohmann::json& row_of(const nlohmann::json& report, const std::string& workload, const std::string& runner,
                             int workers);

}  // namespace filch::cli
