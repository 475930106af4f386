#include "span.hpp"

#include <filch/vm/simulation.hpp>

namespace filch::bench {

void span_recorder::begin() {
  here_ = {};
  begin_s_ = since_s_ = vm::now_s();
}

path span_recorder::now() {
  const double now_s = vm::now_s();
  here_.span_s += now_s - since_s_;
  since_s_ = now_s;
  return here_;
}

void span_recorder::go_to(const path& from) {
  here_ = from;
  since_s_ = vm::now_s();
}

computation span_recorder::measured() {
  const path end = now();
  return {.work_s = since_s_ - begin_s_, .span_s = end.span_s, .branching_depth = end.forks};
}

}  // namespace filch::bench
