// How many places share the processors of this one: what a default number of workers divides by.
#pragma once

#include <mpi.h>

namespace filch::detail::places {

/// Places of this host, this one included, that may run where this one may: of its processors, the one with most of them
/// counts. 1 where launchers bind each place to processors of its own. Collective.
[[nodiscard]] int places_on_these_processors(MPI_Comm communicator);

}  // namespace filch::detail::places
