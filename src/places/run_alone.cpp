#include <filch/detail/run_place.hpp>
#include <filch/places.hpp>

#include "places/memory_network.hpp"

namespace filch::places {

int run_alone(const options& chosen, const std::function<int()>& main) {
  detail::places::memory_hub alone(1);
  return detail::places::run_place(*alone.connect(0), chosen, main);
}

}  // namespace filch::places
