# The Debian package. "make package" writes build/package/filch_<version>_<architecture>.deb.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME filch)
set(CPACK_PACKAGE_VENDOR "the filch authors")
set(CPACK_PACKAGE_CONTACT "the filch authors <filch@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(FILCH_CONSUMER_NEEDS_HWLOC)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libhwloc-dev, pkg-config")
endif()

# For those who use filch::places, which is a static library.
if(FILCH_PLACES)
  set(packages_of_openmpi "libopenmpi-dev, openmpi-bin")
  set(packages_of_mpich "libmpich-dev, mpich")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "${packages_of_${FILCH_MPI}}")
endif()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/filch RENAME copyright)

include(CPack)
