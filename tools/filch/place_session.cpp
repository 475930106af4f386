#include "place_session.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

namespace filch::cli {

bool is_follower() {
  // Of Open MPI, and of MPICH.
  constexpr std::array variables{"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
  return std::ranges::any_of(variables, [](const char* name) {
    const char* const rank = std::getenv(name);
    return rank != nullptr && std::string_view(rank) != "0";
  });
}

void at_first_place(place_session& all, const std::function<void()>& what) {
  std::exception_ptr error;
  if (all.place() == 0) {
    try {
      what();
    } catch (...) {
      error = std::current_exception();
    }
  }
  int failed = error ? 1 : 0;
  if (all.places() > 1) {
    const places::options small{.scheduler = {.workers = 1}};
    all.run(small, [&] { failed = places::all_reduce(failed, [](int a, int b) { return std::max(a, b); }); });
  }
  if (error) std::rethrow_exception(error);
  if (failed != 0) throw std::invalid_argument("place 0 has failed");
}

}  // namespace filch::cli
