# After each build: one test for each scenario that the program knows. Called with PROGRAM, SECONDS and FILE.
execute_process(COMMAND ${PROGRAM} --list OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z0-9_]+" names "${listed}")
set(tests "")
foreach(name IN LISTS names)
  string(STRIP ${name} name)
  string(APPEND tests "add_test(explore.${name} \"${PROGRAM}\" ${name} --seconds ${SECONDS})\n"
         "set_tests_properties(explore.${name} PROPERTIES TIMEOUT 300)\n")
endforeach()
file(WRITE ${FILE} "${tests}")
