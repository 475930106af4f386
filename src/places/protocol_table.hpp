// The steal protocols, by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "places/steal_protocol.hpp"

namespace filch::detail::places {

/// @throws std::invalid_argument for an unknown name; the message has those that are known.
[[nodiscard]] std::unique_ptr<steal_protocol> make_protocol(std::string_view name, steal_site& at);
[[nodiscard]] std::vector<std::string_view> protocol_names();

}  // namespace filch::detail::places
