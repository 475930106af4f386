# Tests of filch::places, under Open MPI and under MPICH where both are installed: one is what filch::places was built
# with; for the other its few sources are compiled a second time, for the tests only.
#
# filch_add_places_program(NAME SOURCE...)  makes the programs NAME_openmpi and NAME_mpich (those that can be built)
# filch_places_test_properties(TEST)        the environment in which they run, and one at a time: each takes all processors
#
# FILCH_TESTED_MPIS lists what there is, of openmpi and mpich; FILCH_MPIRUN_<mpi> is its launcher.

find_package(PkgConfig QUIET)

# What a small machine needs, that has more places than processors, and may run them as root.
set(FILCH_PLACES_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_osc=sm,pt2pt
  OMPI_MCA_pml=ob1
  OMPI_MCA_btl=vader,self
  OMPI_MCA_btl_vader_single_copy_mechanism=none
  OMPI_MCA_plm=isolated
  UCX_TLS=sysv,self
  UCX_LOG_LEVEL=error
  MPIEXEC_TIMEOUT=60)
if(FILCH_SANITIZE)
  # MPI leaks, and is not ours.
  list(APPEND FILCH_PLACES_ENVIRONMENT ASAN_OPTIONS=strict_string_checks=1:detect_leaks=0)
endif()

set(FILCH_TESTED_MPIS "")
set(package_of_openmpi ompi-c)
set(package_of_mpich mpich)
get_property(places_sources GLOBAL PROPERTY FILCH_PLACES_SOURCES)
foreach(mpi openmpi mpich)
  if(mpi STREQUAL FILCH_MPI)
    find_program(FILCH_MPIRUN_${mpi} NAMES mpirun.${mpi} ${MPIEXEC_EXECUTABLE})
    add_library(filch_places_${mpi} INTERFACE)
    target_link_libraries(filch_places_${mpi} INTERFACE filch::places)
    list(APPEND FILCH_TESTED_MPIS ${mpi})
    continue()
  endif()
  find_program(FILCH_MPIRUN_${mpi} mpirun.${mpi})
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${mpi} QUIET IMPORTED_TARGET ${package_of_${mpi}})
  endif()
  if(NOT ${mpi}_FOUND OR NOT FILCH_MPIRUN_${mpi})
    message(STATUS "places are tested under ${FILCH_MPI} only: ${mpi} is not installed")
    continue()
  endif()
  add_library(filch_places_${mpi} STATIC EXCLUDE_FROM_ALL ${places_sources})
  target_include_directories(filch_places_${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(filch_places_${mpi} PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(filch_places_${mpi} PUBLIC filch::filch PkgConfig::${mpi})
  set_target_properties(filch_places_${mpi} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD ON)
  list(APPEND FILCH_TESTED_MPIS ${mpi})
endforeach()

function(filch_add_places_program name)
  foreach(mpi IN LISTS FILCH_TESTED_MPIS)
    add_executable(${name}_${mpi} ${ARGN})
    target_include_directories(${name}_${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name}_${mpi} PRIVATE filch_places_${mpi})
  endforeach()
endfunction()

function(filch_places_test_properties test)
  set_tests_properties(${test} PROPERTIES ENVIRONMENT "${FILCH_PLACES_ENVIRONMENT}" RESOURCE_LOCK places PROCESSORS 2)
endfunction()
