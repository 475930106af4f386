// What check_nested_loops.py counts: loops of one iteration in each other, on one worker.
#include <cstdio>
#include <cstdlib>

#include <filch/filch.hpp>

namespace {

long nest(int depth) {
  long sum = 0;
  filch::parallel_for(0, depth == 0 ? 0 : 1, [&](int) { sum += 1 + nest(depth - 1); });
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  filch::scheduler one({.workers = 1});
  std::printf("%ld\n", one.run([depth = std::atoi(argv[1])] { return nest(depth); }));
}
