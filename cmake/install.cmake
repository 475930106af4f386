# What "cmake --install" and "make package" deliver: the library, its headers, the command line programs when they are
# built, with the machine files and the experiments, a CMake package (find_package(filch), targets filch::filch and, if it
# is built, filch::places) and pkg-config files. All of it is relocatable.

include(CMakePackageConfigHelpers)

set(FILCH_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/filch")
set(FILCH_INSTALL_PKGCONFIGDIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(TARGETS filch EXPORT filch_targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/filch src/platform/native/filch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
if(TARGET filch_cli)
  install(TARGETS filch_cli)
endif()
if(TARGET filch_vm_cli)
  install(TARGETS filch_vm_cli)
  install(DIRECTORY machines reproduce DESTINATION ${CMAKE_INSTALL_DATADIR}/filch FILES_MATCHING PATTERN "*.json")
endif()

# For gdb, which looks for the second name when it reads a shared library.
install(FILES tools/gdb/filch-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/filch/gdb)
if(BUILD_SHARED_LIBS)
  install(FILES tools/gdb/filch-gdb.py DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libfilch.so.${PROJECT_VERSION}-gdb.py)
endif()

install(
  EXPORT filch_targets
  NAMESPACE filch::
  FILE filchTargets.cmake
  DESTINATION ${FILCH_INSTALL_CMAKEDIR})
# Apart from the others, which need no MPI.
if(FILCH_PLACES)
  install(TARGETS filch_places EXPORT filch_places_targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(
    EXPORT filch_places_targets
    NAMESPACE filch::
    FILE filchPlacesTargets.cmake
    DESTINATION ${FILCH_INSTALL_CMAKEDIR})
endif()

# A static libfilch leaves hwloc to be linked by whoever uses it; a shared one brings it along.
get_target_property(filch_type filch TYPE)
set(FILCH_CONSUMER_NEEDS_HWLOC OFF)
set(FILCH_PC_REQUIRES "")
if(FILCH_HWLOC AND filch_type STREQUAL "STATIC_LIBRARY")
  set(FILCH_CONSUMER_NEEDS_HWLOC ON)
  set(FILCH_PC_REQUIRES "hwloc")
endif()

configure_package_config_file(cmake/filchConfig.cmake.in ${PROJECT_BINARY_DIR}/filchConfig.cmake
                              INSTALL_DESTINATION ${FILCH_INSTALL_CMAKEDIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/filchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/filchConfig.cmake ${PROJECT_BINARY_DIR}/filchConfigVersion.cmake
        DESTINATION ${FILCH_INSTALL_CMAKEDIR})

file(RELATIVE_PATH FILCH_PC_PREFIX /${FILCH_INSTALL_PKGCONFIGDIR} /)
string(REGEX REPLACE "/$" "" FILCH_PC_PREFIX "${FILCH_PC_PREFIX}")
configure_file(cmake/filch.pc.in ${PROJECT_BINARY_DIR}/filch.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/filch.pc DESTINATION ${FILCH_INSTALL_PKGCONFIGDIR})
if(FILCH_PLACES)
  set(pkg_config_name_of_openmpi ompi-c)
  set(pkg_config_name_of_mpich mpich)
  set(FILCH_PC_MPI ${pkg_config_name_of_${FILCH_MPI}})
  configure_file(cmake/filch-places.pc.in ${PROJECT_BINARY_DIR}/filch-places.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/filch-places.pc DESTINATION ${FILCH_INSTALL_PKGCONFIGDIR})
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(package)
endif()
