// Uses filch::places as far as that goes without mpirun, and MPI beside it.
#include <cstdio>

#include <mpi.h>

#include <filch/places.hpp>

int main(int argc, char** argv) {
  int is_started = 0;
  if (MPI_Initialized(&is_started) != MPI_SUCCESS || is_started != 0) return 1;
  return filch::places::run(argc, argv, {}, [](int, char**) {
    std::puts("one place");
    return 0;
  });
}
