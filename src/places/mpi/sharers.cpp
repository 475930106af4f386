#include "places/mpi/sharers.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <filch/topology.hpp>

#include "places/mpi/polling.hpp"

namespace filch::detail::places {

int places_on_these_processors(MPI_Comm communicator) {
  const topology here = discover_topology();
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);

  int own_end = 1;
  for (const topology::core_info& each : here.cpus) own_end = std::max(own_end, each.cpu + 1);
  int end = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&own_end, &end, 1, MPI_INT, MPI_MAX, host, &request);
  wait_for(request);

  std::vector<int> mine(static_cast<std::size_t>(end));
  for (const topology::core_info& each : here.cpus) mine[static_cast<std::size_t>(each.cpu)] = 1;
  std::vector<int> all(mine.size());  // places at each processor
  MPI_Iallreduce(mine.data(), all.data(), end, MPI_INT, MPI_SUM, host, &request);
  wait_for(request);
  MPI_Comm_free(&host);

  int most = 1;
  for (const topology::core_info& each : here.cpus) most = std::max(most, all[static_cast<std::size_t>(each.cpu)]);
  return most;
}

}  // namespace filch::detail::places
