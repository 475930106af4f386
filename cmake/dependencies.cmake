# What the library itself needs: threads, and hwloc if it is to read the topology through it (otherwise it reads
# sysfs). Benchmarks, tools and tests look for their own libraries in their own folders.
#
# Sets FILCH_HWLOC and, when it is ON, defines the target PkgConfig::hwloc.

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
