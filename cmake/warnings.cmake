# Warnings for everything below, when filch is the top-level project; a consumer keeps its own choice. The presets turn
# them into errors (CMAKE_COMPILE_WARNING_AS_ERROR).

add_compile_options(
  -Wall
  -Wextra
  -Wpedantic
  -Wshadow
  -Wconversion
  -Wno-sign-conversion # part of clang's -Wconversion, not of g++'s: the same rules for both
  -Wold-style-cast
  -Wnon-virtual-dtor
  -Woverloaded-virtual
  -Wcast-align)
