// A program that contains a filch whose table has another version, as far as another process can see.
#include <cstdio>

#include <filch/watched.hpp>

namespace {

[[gnu::used]] [[gnu::section("filch_watched")]] constinit filch::watched::table_header table{
    filch::watched::magic, filch::watched::version + 1, 0};

}  // namespace

int main() {
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}
