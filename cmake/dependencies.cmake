# What the library itself needs: threads, hwloc if it is to read the topology through it (otherwise it reads sysfs), and
# MPI for places. Benchmarks, tools and tests look for their own libraries in their own folders.
#
# Sets FILCH_HWLOC and, when it is ON, defines the target PkgConfig::hwloc. Sets FILCH_PLACES and, when it is ON, defines the
# target MPI::MPI_CXX and sets FILCH_MPI to openmpi or mpich. MPI_EXECUTABLE_SUFFIX=.openmpi or .mpich chooses one where
# Debian has both.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(hwloc QUIET IMPORTED_TARGET hwloc)
endif()
option(FILCH_HWLOC "Read the topology through hwloc (needs libhwloc-dev)" "${hwloc_FOUND}")
if(FILCH_HWLOC AND NOT TARGET PkgConfig::hwloc)
  message(FATAL_ERROR "FILCH_HWLOC=ON but pkg-config knows no hwloc: install libhwloc-dev, or set FILCH_HWLOC=OFF")
endif()

set(MPI_CXX_SKIP_MPICXX ON) # the C++ bindings that MPI no longer has
if(NOT DEFINED FILCH_PLACES OR FILCH_PLACES)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
option(FILCH_PLACES "Build filch::places, distributed tasks (needs MPI: libopenmpi-dev or libmpich-dev)" "${MPI_CXX_FOUND}")
if(FILCH_PLACES AND NOT TARGET MPI::MPI_CXX)
  message(FATAL_ERROR "FILCH_PLACES=ON but CMake finds no MPI: install libopenmpi-dev and openmpi-bin, or set FILCH_PLACES=OFF")
elseif(NOT FILCH_PLACES)
  message(STATUS "filch::places is not built: no MPI was found, or FILCH_PLACES=OFF; all else is")
else()
  set(FILCH_MPI openmpi)
  foreach(folder IN LISTS MPI_CXX_INCLUDE_DIRS)
    if(EXISTS ${folder}/mpi.h)
      file(STRINGS ${folder}/mpi.h mpich_version REGEX "define MPICH_VERSION")
      if(mpich_version)
        set(FILCH_MPI mpich)
      endif()
    endif()
  endforeach()
endif()
