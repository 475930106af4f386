// filch_environment SCENARIO: uses filch as programs do that have more to do than to compute. Status 0: all went well.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/filch.hpp>

#include "expect.hpp"

namespace {

using filch::tests::expect;

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = filch::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

/// Everything that needs other workers, or might.
void use_all() {
  expect(fib(18) == 2584, "fib");
  std::vector<int> numbers(10000);
  filch::parallel_for(0, 10000, [&](int i) { numbers[static_cast<std::size_t>(i)] = 9999 - i; });
  filch::parallel_sort(numbers);
  expect(std::ranges::is_sorted(numbers), "a sort");
  expect(filch::parallel_reduce(numbers, 0L, [](long i) { return i; }) == 9999L * 5000, "a sum");
  const auto group = std::make_unique<filch::task_group>();
  std::atomic<int> ran = 0;
  for (int i = 0; i < 50; ++i) group->run([&] { ++ran; });
  group->wait();
  expect(ran == 50, "a group");
  expect(filch::scheduler::default_scheduler().submit([] { return fib(10); }).get() == 55, "a submitted task");
}

/// Before main, and after it, in whatever order; or after it alone.
struct at_both_ends {
  at_both_ends() {
    if (enabled("both")) use_all();
  }
  ~at_both_ends() {
    if (enabled("both") || enabled("end")) use_all();
  }
  at_both_ends(const at_both_ends&) = delete;
  at_both_ends& operator=(const at_both_ends&) = delete;
  static bool enabled(std::string_view where) {
    // There is no argv yet.
    const char* const chosen = std::getenv("FILCH_TEST_STATICS");
    return chosen != nullptr && chosen == where;
  }
};
const at_both_ends first_static;

void statics(char** argv) {
  if (at_both_ends::enabled("both")) return use_all();
  if (at_both_ends::enabled("end")) return;
  setenv("FILCH_TEST_STATICS", argv[2], 1);
  execv("/proc/self/exe", argv);
  expect(false, "exec");
}

/// Tasks that never end, on all workers.
void begin_endless_tasks() {
  static std::atomic<int> begun = 0;
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(filch::scheduler::default_scheduler().submit([] {
      for (++begun;;) fib(12);
    }));
  }
  while (begun == 0) std::this_thread::yield();
}

void exit_while_tasks_run(char** /*argv*/) {
  begin_endless_tasks();
  std::exit(0);
}

void quick_exit_while_tasks_run(char** /*argv*/) {
  begin_endless_tasks();
  std::quick_exit(0);
}

void exit_in_a_task(char** /*argv*/) {
  filch::parallel_for(0, 1000, [](int i) {
    fib(10);
    if (i == 500) std::exit(0);
  });
}

/// The destructor of that scheduler is called by a task of it, and waits for nothing that only this task could end.
void exit_in_a_task_of_a_static_scheduler(char** argv) {
  static filch::scheduler pool({.workers = 2});
  const std::string where = argv[2] != nullptr ? argv[2] : "nowhere";
  if (where == "worker") {
    pool.submit([] { std::exit(0); });
    for (;;) std::this_thread::yield();
  }
  if (where == "waiter") pool.submit([] { std::exit(0); }).wait();
  if (where == "run") pool.run([] { filch::fork_join([] { fib(20); }, [] { std::exit(0); }); });
  if (where == "inner") {
    filch::scheduler outer({.workers = 2});
    outer.run([] { pool.submit([] { std::exit(0); }).wait(); });
  }
  std::exit(1);
}

/// Calls f in a child process, which has ten seconds.
template <class F>
void in_child(const F& f) {
  const pid_t child = fork();
  expect(child != -1, "fork");
  if (child == 0) {
    alarm(10);
    f();
    _exit(0);
  }
  int status = 1;
  expect(waitpid(child, &status, 0) == child, "waitpid");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child has ended well");
}

void fork_before_use(char** /*argv*/) {
  in_child(use_all);
  use_all();
}

void fork_after_use(char** /*argv*/) {
  for (int i = 0; i < 20; ++i) {
    use_all();
    in_child([] {
      use_all();
      in_child(use_all);  // and its own child
    });
  }
  // While others use it.
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) use_all();
  });
  for (int i = 0; i < 20; ++i) in_child(use_all);
  done = true;
  other.join();
  use_all();
}

void fork_in_a_task(char** /*argv*/) {
  std::atomic<int> children = 0;
  filch::parallel_for(0, 8, [&](int /*i*/) {
    in_child(use_all);
    ++children;
  });
  expect(children == 8, "eight children");
  use_all();
}

/// A thread that is not there in the child may have had any lock of the scheduler. In the child it can be destroyed, and a call left.
void fork_beside_guests(char** /*argv*/) {
  auto pool = std::make_unique<filch::scheduler>(2);
  std::atomic<bool> done = false;
  std::vector<std::thread> guests;
  for (int i = 0; i < 3; ++i) {
    guests.emplace_back([&] {
      while (!done) pool->run([] {});
    });
  }
  for (int i = 0; i < 40; ++i) {
    in_child([&] { pool.reset(); });
    pid_t child = -1;
    pool->run([&] {
      child = fork();
      if (child == 0) alarm(10);
    });
    if (child == 0) _exit(0);
    int status = 1;
    expect(waitpid(child, &status, 0) == child, "waitpid");
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child has left the call");
  }
  done = true;
  for (std::thread& guest : guests) guest.join();
}

void fork_and_exec(char** /*argv*/) {
  use_all();
  filch::parallel_for(0, 8, [](int /*i*/) { expect(std::system("true") == 0, "a program that a task starts"); });
  use_all();
}

/// What the process may use is asked for anew by each scheduler.
void affinity_changes(char** /*argv*/) {
  cpu_set_t all;
  CPU_ZERO(&all);
  expect(sched_getaffinity(0, sizeof all, &all) == 0, "sched_getaffinity");
  const int before = filch::discover_topology().usable_workers;
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  filch::scheduler wide;
  wide.run(use_all);
  expect(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
  expect(filch::discover_topology().usable_workers == 1, "one processor is usable");
  {
    filch::scheduler narrow;
    expect(narrow.workers() == 1, "a scheduler for one processor");
    narrow.run([] { expect(fib(15) == 610, "fib on one processor"); });
    wide.run([] { expect(fib(15) == 610, "fib by workers that share a processor"); });
  }
  expect(sched_setaffinity(0, sizeof all, &all) == 0, "sched_setaffinity back");
  expect(filch::discover_topology().usable_workers == before, "all are usable again");
  filch::scheduler again;
  expect(again.workers() == wide.workers(), "a scheduler for all processors again");
}

std::atomic<long> alarms_handled = 0;

/// A host whose signals come all the time, on any thread.
void alarms(char** /*argv*/) {
  struct sigaction action{};
  action.sa_handler = [](int /*signal*/) { alarms_handled.fetch_add(1, std::memory_order_relaxed); };
  expect(sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
  itimerval often{};
  often.it_interval.tv_usec = often.it_value.tv_usec = 200;
  expect(setitimer(ITIMER_REAL, &often, nullptr) == 0, "setitimer");
  filch::scheduler pool({.workers = 4});
  while (alarms_handled < 500) {
    pool.run(use_all);
    std::this_thread::sleep_for(std::chrono::microseconds(300));  // workers fall asleep, and signals come then, too
  }
}

void end_in_own_task(char** /*argv*/) {
  auto pool = std::make_shared<filch::scheduler>(filch::options{.workers = 2});
  const auto last = pool->submit([keep = pool]() mutable {
    while (keep.use_count() != 1) std::this_thread::yield();
    keep.reset();  // which would wait for this task
    use_all();
    expect(filch::this_worker().count > 2, "a bound of indices");
  });
  pool.reset();
  last.get();
}

// As many as may take part do, and the destructor of a group waits outside.
void too_many_guests(char** /*argv*/) {
  filch::scheduler pool({.workers = 2, .stack_bytes = 4096});
  auto group = std::make_unique<filch::task_group>();
  std::atomic<int> inside = 0;
  std::atomic<bool> over = false;
  bool ran = false;
  // The first one has the seat.
  std::vector<std::thread> threads;
  for (int i = 0; i != filch::scheduler::most_guests + 1; ++i) {
    threads.emplace_back([&] {
      pool.run([&] {
        ++inside;
        while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      });
    });
  }
  while (inside != filch::scheduler::most_guests + 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  bool refused = false;
  try {
    pool.run([] {});
  } catch (const std::runtime_error&) {
    refused = true;
  }
  expect(refused, "a guest too many");
  // Who waits for a future, or several, needs no help of its own.
  expect(pool.submit([] { return 4; }).get() == 4, "a future that others make ready");
  std::vector<filch::future<int>> some;
  for (int i = 0; i != 3; ++i) some.push_back(pool.submit([i] { return i; }));
  expect(filch::when_all(std::move(some)).get().at(2).get() == 2, "futures that others make ready");
  std::atomic<bool> filled = false;
  const auto maker = pool.submit([&] {
    group->run([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // mostly until its end is waited for
      ran = true;
    });
    filled = true;
  });
  while (!filled) std::this_thread::yield();
  group.reset();
  expect(ran, "a task of a group that ends outside");
  over = true;
  for (std::thread& t : threads) t.join();
}

void many_workers(char** /*argv*/) {
  for (const int workers : {1, 2, 3, 5, 8, 16, 33, 64, 128, 256}) {
    for (const char* const policy : {"standard", "chase_lev", "receiver", "adws"}) {
      filch::scheduler pool({.workers = workers, .policy = policy});
      pool.run([] {
        expect(fib(16) == 987, "fib");
        std::atomic<int> ran = 0;
        filch::parallel_for(0, 2000, [&](int /*i*/) { ++ran; });
        expect(ran == 2000, "a loop");
      });
    }
  }
  // Several teams at once, each as large as the machine, and larger.
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([] {
      filch::scheduler pool({.workers = 8});
      for (int round = 0; round < 20; ++round) pool.run([] { expect(fib(14) == 377, "fib beside others"); });
    });
  }
  for (std::thread& caller : callers) caller.join();
}

/// Something of everything that traces show, until enough was stolen.
void compute_for_trace(filch::scheduler& pool) {
  const auto before = pool.stats().steals;
  for (int round = 0; round < 20 || (pool.stats().steals < before + 20 && round < 100'000); ++round) {
    pool.run([] {
      filch::task_group group;
      for (int i = 0; i < 8; ++i) group.run(filch::named("a \"named\" task", [] { fib(14); }));
      group.wait();
    });
    if (round % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));  // workers fall asleep
  }
}

/// FILCH_TRACE is set, and trace_test.py looks at the file.
void traced(char** /*argv*/) {
  {
    filch::scheduler ends({.workers = 2});
    compute_for_trace(ends);
  }
  filch::scheduler& pool = filch::scheduler::default_scheduler();
  compute_for_trace(pool);
  try {
    const filch::trace second(pool, "/dev/null");
    expect(false, "a second trace of one scheduler");
  } catch (const std::logic_error&) {
  }
}

/// FILCH_TRACE is set, and each of twelve schedulers notes as much as there is room for.
void traced_in_turn(char** /*argv*/) {
  constexpr int schedulers = 12;
  for (int i = 0; i < schedulers; ++i) {
    filch::scheduler pool({.workers = 1});
    pool.run([&] {
      for (int each = 0; each < 70'000; ++each) filch::named("short", [] {})();
      // Of the first one and of the last.
      if (i == 0 || i == schedulers - 1) filch::named("a \"named\" task", [] {})();
    });
  }
}

/// FILCH_TRACE is set. Names are UTF-8, or not: Latin-1, half of a surrogate pair, a character cut off, one that is too long.
void traced_names(char** /*argv*/) {
  filch::scheduler pool({.workers = 1});
  pool.run([] {
    filch::named("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", [] {})();
    filch::named("caf\xe9", [] {})();
    filch::named("\xed\xa0\x80|\xf4\x90\x80\x80|\xc1\xbf", [] {})();
    filch::named("\xe2\x82", [] {})();
  });
}

/// A trace for a while, twice, of more than there is room for; FILCH_TEST_TRACE names the file.
void traced_for_a_while(char** /*argv*/) {
  const char* const file = std::getenv("FILCH_TEST_TRACE");
  expect(file != nullptr, "FILCH_TEST_TRACE is set");
  filch::scheduler pool({.workers = 3});
  for (int round = 0; round < 2; ++round) {
    compute_for_trace(pool);
    filch::trace recording(pool, file);
    compute_for_trace(pool);
    pool.run([] {
      for (int i = 0; i < 200'000; ++i) filch::named("short", [] {})();
    });
    recording.write();
    compute_for_trace(pool);
  }
  try {
    const filch::trace nowhere(pool, "/no/such/folder/trace.json");
    expect(false, "a trace that cannot be written");
  } catch (const std::invalid_argument& error) {
    expect(std::strstr(error.what(), "/no/such/folder/trace.json") != nullptr, "the error names the file");
  }
}

/// A thread with a stack of a megabyte, in whose tasks waits follow each other, a million deep as far as the tasks are
/// concerned: each bag item makes the next, and each task of the chain joins a branch.
void small_stack(char** /*argv*/) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{1} << 20);
  pthread_t thread{};
  const int error = pthread_create(
      &thread, &attributes,
      [](void* /*nothing*/) -> void* {
        filch::scheduler pool({.workers = 2});
        pool.run([] {
          constexpr int links = 1'000'000;
          std::atomic<int> seen = 0;
          const std::vector<int> root{links};
          filch::for_each_dynamic(root.begin(), root.end(), [&](int left, filch::feeder<int>& more) {
            ++seen;
            if (left > 1) more.push(left - 1);
            filch::fork_join([] {}, [] {});
          });
          expect(seen == links, "a chain of items");
          // Each continuation waits for the one before it.
          filch::promise<int> begin;
          filch::future<int> last = begin.get_future();
          for (int i = 0; i < 100'000; ++i) last = last.then([](int n) { return n + 1; });
          begin.put(0);
          expect(last.get() == 100'000, "a chain of continuations");
        });
        return nullptr;
      },
      nullptr);
  expect(error == 0, "pthread_create");
  pthread_join(thread, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  static const std::map<std::string, void (*)(char**)> scenarios{
      {"statics", statics},
      {"exit_while_tasks_run", exit_while_tasks_run},
      {"exit_in_a_task", exit_in_a_task},
      {"exit_in_a_task_of_a_static_scheduler", exit_in_a_task_of_a_static_scheduler},
      {"quick_exit_while_tasks_run", quick_exit_while_tasks_run},
      {"fork_before_use", fork_before_use},
      {"fork_after_use", fork_after_use},
      {"fork_in_a_task", fork_in_a_task},
      {"fork_beside_guests", fork_beside_guests},
      {"fork_and_exec", fork_and_exec},
      {"affinity_changes", affinity_changes},
      {"alarms", alarms},
      {"end_in_own_task", end_in_own_task},
      {"too_many_guests", too_many_guests},
      {"many_workers", many_workers},
      {"small_stack", small_stack},
      {"traced", traced},
      {"traced_in_turn", traced_in_turn},
      {"traced_names", traced_names},
      {"traced_for_a_while", traced_for_a_while}};
  const auto found = argc == 2 || argc == 3 ? scenarios.find(argv[1]) : scenarios.end();
  if (found == scenarios.end()) {
    static_cast<void>(std::fputs("filch_environment: say one scenario, and where; see CMakeLists.txt\n", stderr));
    return 2;
  }
  found->second(argv);
  return 0;
}

/// After main's: its destructor runs first.
namespace {
const at_both_ends last_static;
}
