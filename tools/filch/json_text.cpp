#include "json_text.hpp"

#include <nlohmann/json.hpp>

namespace filch::cli {

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace filch::cli
