# Builds everything below with the sanitizers of FILCH_SANITIZE. A report ends the program: no test passes with one.
# Contracts are checked too, although the code is optimised.

if(FILCH_SANITIZE)
  if("thread" IN_LIST FILCH_SANITIZE AND "address" IN_LIST FILCH_SANITIZE)
    message(FATAL_ERROR "FILCH_SANITIZE=\"${FILCH_SANITIZE}\": thread and address exclude each other; choose one")
  endif()
  string(REPLACE ";" "," sanitizers "${FILCH_SANITIZE}")
  # Reports name functions and lines. To know the variables as well, -g takes half as long again to compile.
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_compile_definitions(FILCH_CHECKS=1)
  add_link_options(-fsanitize=${sanitizers})
endif()
