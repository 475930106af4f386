// filch::places::run where there is no network: one place.
#include <array>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include <filch/detail/run_place.hpp>
#include <filch/places.hpp>

#include "places/memory_network.hpp"

namespace filch::places {
namespace {

/// Where launchers of MPI programs say how many processes they have started: Open MPI's, MPICH's.
constexpr std::array launchers{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

// Several processes would be so many programs, each of which does all of the work.
void reject_launchers() {
  for (const char* const variable : launchers) {
    const char* const value = std::getenv(variable);
    if (value == nullptr) continue;
    const std::string_view text = value;
    int processes = 0;
    std::from_chars(text.data(), text.data() + text.size(), processes);
    if (processes > 1) {
      throw std::runtime_error("filch: started as one of " + std::string(text) + " processes (" + variable +
                               "), but places are not connected yet; start the program without mpirun, at one place");
    }
  }
}

}  // namespace

int run(int argc, char** argv, const options& chosen, const std::function<int(int, char**)>& main) {
  reject_launchers();
  detail::places::memory_hub alone(1);
  const auto net = alone.connect(0);
  return detail::places::run_place(*net, chosen, [&] { return main(argc, argv); });
}

}  // namespace filch::places
