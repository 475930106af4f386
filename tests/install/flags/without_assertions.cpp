// Exit status 0 if both files get the same sum.
#include "sum_up.hpp"

int main() {
  filch::scheduler pool({.workers = 2});
  return sum_up(pool) == 2004 && sum_up_with_assertions(pool) == 2004 ? 0 : 1;
}
