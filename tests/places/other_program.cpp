// Does what places_program does when it does nothing, and is another program.
#include <cstdio>

#include <filch/places.hpp>

int main(int argc, char** argv) {
  const int result = filch::places::run(argc, argv, {}, [](int, char**) { return 0; });
  std::puts("after the last barrier");
  return result;
}
