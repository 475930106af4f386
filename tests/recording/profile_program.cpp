// Programs whose profiles are known: profile_test.py says what they have to be.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <filch/filch.hpp>

#include "work.hpp"

namespace {

using filch::fork_join;
using filch::parallel_for;
using filch::task_group;
using filch::tests::work;

// NOLINTNEXTLINE(misc-no-recursion): that is the work.
int fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

// NOLINTNEXTLINE(misc-no-recursion): that is the work.
void chain(int links) {
  work(10'000);
  if (links == 0) return;
  task_group next;
  next.run([links] { chain(links - 1); });
  next.wait();
}

void two_wide_parts() {
  const auto wide = filch::named("wide", [] {
    task_group all;
    for (int i = 0; i < 16; ++i) all.run([] { work(200'000); });
    all.wait();
  });
  for (int i = 0; i < 2; ++i) wide();
}

const std::map<std::string, std::function<void()>> programs{
    {"fib", [] { fib(12); }},
    {"chain", [] { chain(50); }},
    {"group",
     [] {
       task_group all;
       for (int i = 0; i < 32; ++i) all.run(filch::named("leaf", [] { work(200'000); }));
       all.wait();
     }},
    {"heap_group",
     [] {
       const auto all = std::make_unique<task_group>();
       for (int i = 0; i < 32; ++i) all->run([] { work(200'000); });
       all->wait();
     }},
    {"loop", [] { parallel_for(0, 64, [](int) { work(200'000); }); }},
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
    {"wide_parts",
     [] {
       two_wide_parts();
       std::thread([] { filch::scheduler::default_scheduler().run(&two_wide_parts); }).join();
     }},
    {"reduce",
     [] {
       const long sum = filch::parallel_reduce(0L, 1'000'000L, 0L, [](long i) { return i; }, std::plus<>());
       if (sum != 499'999'500'000L) std::abort();
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
    {"submitted", [] { filch::scheduler::default_scheduler().submit([] { work(100'000); }).wait(); }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = argc == 2 ? programs.find(argv[1]) : programs.end();
  if (found == programs.end()) {
    static_cast<void>(std::fprintf(stderr, "profile_program: name one of its programs\n"));
    return 2;
  }
  filch::scheduler pool({.workers = 4, .policy = "lace"});  // whatever a program wants
  pool.run(found->second);
}
