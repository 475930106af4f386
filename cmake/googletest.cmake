# GoogleTest: the installed one, or, for cross builds, one built from FILCH_GTEST_SOURCE (/usr/src/googletest in Debian).

include(GoogleTest)
set(FILCH_GTEST_SOURCE "" CACHE PATH "Build GoogleTest from this folder instead of using the installed one")

# A function, so that what is set for GoogleTest's own sources ends with it.
function(filch_build_googletest)
  set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
  add_subdirectory(${FILCH_GTEST_SOURCE} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
endfunction()

if(FILCH_GTEST_SOURCE)
  filch_build_googletest()
else()
  find_package(GTest REQUIRED)
endif()
