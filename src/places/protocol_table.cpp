#include "places/protocol_table.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "places/baseline.hpp"
#include "places/lifeline.hpp"
#include "places/success_only.hpp"

namespace filch::detail::places {
namespace {

struct row {
  std::string_view name;
  std::unique_ptr<steal_protocol> (*make)(steal_site&);
};

template <class Protocol>
std::unique_ptr<steal_protocol> make(steal_site& at) {
  return std::make_unique<Protocol>(at);
}

constexpr std::array table{
    row{"success_only", &make<success_only>},
    row{"baseline", &make<baseline>},
    row{"lifeline", &make<lifeline>},
};

}  // namespace

std::unique_ptr<steal_protocol> make_protocol(std::string_view name, steal_site& at) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const row& each) { return each.name == name; });
  if (found != table.end()) return found->make(at);
  std::string known;
  for (const row& each : table) known += (known.empty() ? "" : ", ") + std::string(each.name);
  throw std::invalid_argument("filch: unknown policy of places '" + std::string(name) + "'; use one of: " + known);
}

std::vector<std::string_view> protocol_names() {
  std::vector<std::string_view> names;
  names.reserve(table.size());
  for (const row& each : table) names.push_back(each.name);
  return names;
}

}  // namespace filch::detail::places
