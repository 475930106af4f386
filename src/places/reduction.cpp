#include "places/reduction.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include <filch/places.hpp>

#include "places/carried_error.hpp"

namespace filch::detail::places {
namespace {

/// Before the value.
struct header {
  reduction_of what;
  int place;  ///< the contributor, or the lowest of those that are combined
  carried_error error{};
};

header header_of(std::span<const std::byte> contribution) {
  header h;
  std::memcpy(static_cast<void*>(&h), contribution.data(), sizeof h);
  return h;
}

}  // namespace

std::string told(std::span<const std::byte> contribution) {
  const header h = header_of(contribution);
  const std::string who = "place " + std::to_string(h.place);
  if (h.what == reduction_of::end_of_main) return who + " has ended its main function";
  return who + " calls all_reduce with a value of " + std::to_string(contribution.size() - sizeof h) + " bytes";
}

std::vector<std::byte> contribution(reduction_of what, int place, std::span<const std::byte> value) {
  const header h{.what = what, .place = place};
  std::vector<std::byte> all(sizeof h + value.size());
  std::memcpy(all.data(), &h, sizeof h);
  if (!value.empty()) std::memcpy(all.data() + sizeof h, value.data(), value.size());
  return all;
}

tree::combine combine_contributions(int place, tree::combine add) {
  return [place, add = std::move(add)](std::span<std::byte> first, std::span<const std::byte> second) {
    header mine = header_of(first);
    const header other = header_of(second);
    const auto value = first.subspan(sizeof mine);
    const auto other_value = second.subspan(sizeof other);
    mine.error.add(other.error);
    try {
      if (mine.what != other.what || value.size() != other_value.size()) {
        throw std::logic_error(told(first) + ", but " + told(second) + "; all places call the same, in the same order");
      }
      if (!mine.error.get()) add(value, other_value);
    } catch (...) {
      mine.error.set({place, text_of_handled()});
    }
    std::memcpy(first.data(), &mine, sizeof mine);
  };
}

std::vector<std::byte> value_of(std::span<const std::byte> result) {
  if (const auto error = header_of(result).error.get()) throw filch::places::place_failed(error->place, error->what);
  const auto value = result.subspan(sizeof(header));
  return {value.begin(), value.end()};
}

}  // namespace filch::detail::places
