#include "random_keys.hpp"

#include <cstddef>

namespace filch::bench {

key_size parse_keys(const size_context& context, std::int64_t most) {
  const std::size_t slash = context.size.find('/');
  if (slash == std::string_view::npos) {
    return {key_kind::random, static_cast<std::uint64_t>(parse_whole(context, context.size, 1, most))};
  }
  const std::string_view kind = context.size.substr(0, slash);
  if (kind != "random" && kind != "exponential") reject_size(context, "does not begin with random/ or exponential/");
  const std::int64_t count = parse_whole(context, context.size.substr(slash + 1), 1, most);
  return {kind == "random" ? key_kind::random : key_kind::exponential, static_cast<std::uint64_t>(count)};
}

}  // namespace filch::bench
