// How many threads a scheduler starts to take the place of blocked workers.
#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm/simulation.hpp>

namespace filch::vm {
namespace {

TEST(spare_threads, are_used_again) {
  int spares = 0;
  simulation machine(load_machine("generic", MACHINES_FOLDER), 1, 32);
  machine.run([&] {
    scheduler pool({.workers = 2, .on_start = [&](int index) { spares += index < 0 ? 1 : 0; }});
    pool.run([] {
      const auto block = [] { const blocking here; };
      for (int i = 0; i < 1000; ++i) {
        block();
        platform::charge(100'000);
      }
    });
  });
  EXPECT_GE(spares, 1);
  EXPECT_LE(spares, 4);
}

}  // namespace
}  // namespace filch::vm
