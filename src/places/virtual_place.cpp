#include <filch/detail/run_place.hpp>
#include <filch/vm/places.hpp>

#include "places/virtual_network.hpp"

namespace filch::vm {

int run_place(const places::options& chosen, const std::function<int()>& main) {
  return detail::places::run_place(*detail::places::connect_virtual_network(), chosen, main);
}

}  // namespace filch::vm
