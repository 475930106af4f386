// Uses filch::places as far as that goes without mpirun.
#include <cstdio>

#include <filch/places.hpp>

int main(int argc, char** argv) {
  return filch::places::run(argc, argv, {}, [](int, char**) {
    std::puts("one place");
    return 0;
  });
}
