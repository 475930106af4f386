// Programs whose profiles are known: profile_test.py says what they have to be.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <filch/filch.hpp>

#include "work.hpp"

namespace {

using filch::fork_join;
using filch::parallel_for;
using filch::task_group;
using filch::tests::work;

int fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

void chain(int links) {
  work(100'000);
  if (links == 0) return;
  task_group next;
  next.run([links] { chain(links - 1); });
  next.wait();
}

void named_tree(int depth) {
  filch::named("tree", [depth] {
    if (depth == 0) return work(100'000);
    fork_join([depth] { named_tree(depth - 1); }, [depth] { named_tree(depth - 1); });
  })();
}

void loop_tree(int depth) {
  parallel_for(0, 2, [depth](int) {
    if (depth == 0) return work(100'000);
    loop_tree(depth - 1);
  });
}

void two_wide_parts() {
  const auto wide = filch::named("wide", [] {
    task_group all;
    for (int i = 0; i < 16; ++i) all.run([] { work(200'000); });
    all.wait();
  });
  for (int i = 0; i < 2; ++i) wide();
}

void run_layers(bool long_first) {
  filch::task_graph all;
  std::vector<filch::task_graph::node> before;
  for (int layer = 0; layer < 16; ++layer) {
    std::vector<filch::task_graph::node> now;
    for (const bool is_long : {long_first, !long_first}) {
      now.push_back(all.add([is_long] { work(is_long ? 400'000 : 4'000); }, before));
    }
    before = now;
  }
  all.run();
}

void run_group(task_group& all) {
  for (int i = 0; i < 32; ++i) all.run([] { work(200'000); });
  all.wait();
}

void sleep_blocked() {
  const filch::blocking here;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

/// A task that is begun later, by whoever has time.
void run_released() {
  task_group all;
  std::atomic<bool> is_done = false;
  filch::detail::held_tasks::release(filch::detail::held_tasks::hold(all, filch::named("released", [&] {
                                                                       parallel_for(0, 8, [](int) { work(200'000); });
                                                                       is_done = true;
                                                                     })));
  const filch::blocking here;
  while (!is_done) std::this_thread::yield();
}

/// A fork and a loop in each of four tasks.
void run_wide_tasks(task_group& all) {
  for (int i = 0; i < 4; ++i) {
    all.run([] {
      fork_join([] { work(200'000); }, [] { work(200'000); });
      parallel_for(0, 8, [](int) { work(200'000); });
    });
  }
  all.wait();
}

// They are run by a thread that is no worker.
const std::map<std::string, std::function<void()>> outside_programs{
    {"outside_group",
     [] {
       task_group all;
       run_group(all);
     }},
    {"outside_wide_tasks",
     [] {
       task_group all;
       run_wide_tasks(all);
     }},
    {"outside_heap_group", [] { run_group(*std::make_unique<task_group>()); }},
    {"outside_groups",
     [] {
       for (int i = 0; i < 4; ++i) {
         task_group all;
         for (int task = 0; task < 8; ++task) all.run([] { work(200'000); });
         all.wait();
       }
     }},
    {"outside_chain",
     [] {
       task_group all;
       all.run([&] {
         work(200'000);
         all.run([] { work(200'000); });
       });
       all.run([] { work(200'000); });
       all.wait();
     }},
    {"outside_blocked",
     [] {
       filch::scheduler::default_scheduler().run(&sleep_blocked);
       std::exit(0);  // while the spare thread searches
     }},
    {"outside_spare", [] { filch::scheduler({.workers = 1}).run(&run_released); }},
    {"outside_loops",
     [] {
       for (int i = 0; i < 500; ++i) parallel_for(0, 10, [](int) { work(10'000); });
     }},
    {"outside_threads",
     [] {
       task_group all;
       const auto fill = [&] {
         for (int i = 0; i < 16; ++i) all.run([] { work(200'000); });
       };
       std::thread other(fill);
       fill();
       other.join();
       all.wait();
     }},
    {"outside_throws",
     [] {
       task_group all;
       for (int i = 0; i < 4; ++i) all.run([] { work(200'000); });
       all.run([] { throw 1; });
       try {
         all.wait();
       } catch (int) {
         run_group(all);
       }
     }},
};

const std::map<std::string, std::function<void()>> programs{
    {"fib", [] { fib(12); }},
    {"chain", [] { chain(50); }},
    {"group",
     [] {
       task_group all;
       for (int i = 0; i < 32; ++i) all.run(filch::named("leaf", [] { work(200'000); }));
       all.wait();
     }},
    {"wide_tasks",
     [] {
       task_group all;
       run_wide_tasks(all);
     }},
    {"heap_wide_tasks", [] { run_wide_tasks(*std::make_unique<task_group>()); }},
    {"heap_group",
     [] {
       const auto all = std::make_unique<task_group>();
       for (int i = 0; i < 32; ++i) all->run([] { work(200'000); });
       all->wait();
     }},
    // Each layer waits for the whole one before: it is a chain of the long ones, in whichever order they are added.
    {"graph_long_first", [] { run_layers(true); }},
    {"graph_long_last", [] { run_layers(false); }},
    {"other_scheduler",
     [] {
       filch::scheduler other({.workers = 2});
       other.run([] { parallel_for(0, 64, [](int) { work(200'000); }); });
     }},
    {"loop", [] { parallel_for(0, 64, [](int) { work(200'000); }); }},
    {"loop_grain", [] { parallel_for(0, 60, [](int) { work(200'000); }, 16); }},
    {"range_grain",
     [] {
       parallel_for(filch::blocked_range(0, 60, 16), [](const auto& part) {
         for (std::size_t i = 0; i < part.size(); ++i) work(200'000);
       });
     }},
    {"rows_grain",
     [] {
       parallel_for(filch::blocked_range2d(0, 60, 16, 0, 2, 1), [](const auto& part) {
         for (std::size_t i = 0; i < part.rows().size() * part.cols().size(); ++i) work(100'000);
       });
     }},
    {"short_loops",
     [] {
       for (int i = 0; i < 2000; ++i) parallel_for(0, 2, [](int) { work(2); });
     }},
    {"nested",
     [] {
       parallel_for(0, 16, [](int) {
         parallel_for(0, 4, [](int) { work(50'000); });
         fork_join([] { work(50'000); }, [] { work(50'000); });
       });
     }},
    {"named_tree",
     [] {
       for (int i = 0; i < 2; ++i) named_tree(5);
     }},
    {"loop_tree",
     [] {
       for (int i = 0; i < 2; ++i) loop_tree(4);
     }},
    {"wide_parts",
     [] {
       two_wide_parts();
       std::thread([] { filch::scheduler::default_scheduler().run(&two_wide_parts); }).join();
     }},
    {"blocked", [] { fork_join(&sleep_blocked, &sleep_blocked); }},
    {"released", &run_released},
    {"reduce",
     [] {
       const long sum = filch::parallel_reduce(0L, 1'000'000L, 0L, [](long i) { return i; }, std::plus<>());
       if (sum != 499'999'500'000L) std::abort();
     }},
    {"names",
     [] {
       filch::named("caf\xc3\xa9", [] { work(200'000); })();
       filch::named("caf\xe9", [] { work(200'000); })();
     }},
    {"throws",
     [] {
       try {
         fork_join([]() -> int { throw 1; }, [] { return 2; });
       } catch (int) {
         task_group all;
         all.run([] { throw 2; });
         try {
           all.wait();
         } catch (int) {
           work(1000);
         }
       }
     }},
    {"forks",
     [] {
       work(1000);
       const pid_t child = fork();
       if (child == 0) std::exit(0);  // which writes nothing
       waitpid(child, nullptr, 0);
       fork_join([] { work(1000); }, [] { work(1000); });
     }},
    {"exits",
     [] {
       work(1000);
       std::exit(0);
     }},
    {"submitted", [] { filch::scheduler::default_scheduler().submit([] { work(100'000); }).wait(); }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = argc == 2 ? programs.find(argv[1]) : programs.end();
  if (argc != 2 || (found == programs.end() && !outside_programs.contains(argv[1]))) {
    static_cast<void>(std::fprintf(stderr, "profile_program: name one of its programs\n"));
    return 2;
  }
  if (const auto outside = outside_programs.find(argv[1]); outside != outside_programs.end()) {
    outside->second();
    return 0;
  }
  filch::scheduler pool({.workers = 4, .policy = "lace"});  // whatever a program wants
  pool.run(found->second);
}
