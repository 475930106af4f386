# GoogleTest: the installed one, or, for cross builds, one built from FILCH_GTEST_SOURCE (/usr/src/googletest in Debian).

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

# filch_add_gtest(PROGRAM NAME SHARDS n [SERIAL]): the tests of a program as n ctest tests NAME.1 to NAME.n (NAME alone if
# n is 1), each a process that runs every n-th of them. SERIAL: nothing runs beside it, because it needs all processors.
function(filch_add_gtest program name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SERIAL" "SHARDS" "")
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(test ${name})
    if(arg_SHARDS GREATER 1)
      string(APPEND test .${shard})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${program})
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}"
                                            RUN_SERIAL ${arg_SERIAL})
  endforeach()
endfunction()
