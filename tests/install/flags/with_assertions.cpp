#include "sum_up.hpp"

long sum_up_with_assertions(filch::scheduler& pool) { return sum_up(pool); }
