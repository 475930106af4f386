#include "library.hpp"

#include <atomic>

#include <filch/fork_join.hpp>
#include <filch/task_group.hpp>

namespace {

[[noreturn]] void fail() { throw library_error("thrown"); }

}  // namespace

void run_in_library(thrown_by which) {
  filch::scheduler pool({.workers = 2});
  pool.run([&] {
    if (which == thrown_by::first_branch) {
      filch::fork_join([] { fail(); }, [] {});
    } else if (which == thrown_by::stolen_branch) {
      std::atomic<bool> is_stolen = false;
      filch::fork_join(
          [&] {
            while (!is_stolen) filch::fork_join([] {}, [] {});  // which also offers the other branch
          },
          [&] {
            is_stolen = true;
            fail();
          });
    } else {
      filch::task_group group;
      group.run([] { fail(); });
      group.wait();
    }
  });
}
