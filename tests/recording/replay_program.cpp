// Prints which worker ran which task of a program with forks, groups, loops and reductions.
//
//     filch_replay_program [WORKERS]
//     filch_replay_program WORKERS locked     how a loop runs while a worker holds a lock across a join
//     filch_replay_program WORKERS leaves     goes to another folder before it ends
//     filch_replay_program WORKERS leaves_at_once    before it uses filch
//     filch_replay_program WORKERS forks      also how a child has ended, which has a scheduler with one worker
//     filch_replay_program WORKERS exits      inside of a second call of run; "exits_at_once": of the first
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
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

class program {
 public:
  program() : ran_by_(static_cast<std::size_t>(loops_begin + 100 * loop_size), -1) {}

  void run() {
    tree(1);
    task_group all;
    for (int i = 0; i < 16; ++i) all.run([this, i] { tree(1024 * (i % 4 + 1) + 64 * (i / 4) + 1024); });
    all.wait();
    parallel_for(0, loop_size, [this](int i) {
      note(loops_begin + i);
      work(2000);
      if (i % 8 == 0) tree(8192 + 64 * i);
    });
    parallel_for(0, 10, [this](int i) {
      parallel_for(0, loop_size, [this, i](int j) { note(loops_begin + (i + 1) * loop_size + j); });
    });
    const long sum = filch::parallel_reduce(0L, 10'000L, 0L, [](long i) { return i; }, std::plus<>());
    std::printf("%ld", sum);
    print();
  }

 private:
  static constexpr int loop_size = 64;
  static constexpr int loops_begin = 16384;

  // A tree of 2 x 31 tasks from that number on.
  // NOLINTNEXTLINE(misc-no-recursion): that is the work.
  void tree(int first, int number = 1) {
    note(first + number);
    work(3000 + 500 * static_cast<unsigned>(number % 7));
    if (number >= 16) return;
    fork_join([=, this] { tree(first, 2 * number); }, [=, this] { tree(first, 2 * number + 1); });
  }
  void note(int task) { ran_by_[static_cast<std::size_t>(task)] = filch::this_worker().index; }
  void print() const {
    for (std::size_t i = 0; i < ran_by_.size(); ++i) {
      if (ran_by_[i] >= 0) std::printf(" %zu:%d", i, ran_by_[i]);
    }
    std::printf("\n");
  }

  std::vector<int> ran_by_;
};

thread_local bool holds_lock = false;

// A worker waits for a branch that lasts until the loop has ended. It must not run a part of the loop, which wants the lock.
int run_locked(int workers) {
  filch::scheduler pool({.workers = workers});
  std::atomic<bool> waits{false};
  std::atomic<bool> loop_is_over{false};
  std::atomic<int> in_vain{0};
  // Others get the caller's tasks meanwhile.
  const auto await = [](const std::atomic<bool>& flag) {
    while (!flag) fork_join([] { std::this_thread::yield(); }, [] {});
  };
  pool.run([&] {
    task_group g;
    g.run([&] {
      holds_lock = true;
      fork_join([&] { await(waits); },
                [&] {
                  waits = true;
                  await(loop_is_over);
                });
      holds_lock = false;
    });
    await(waits);
    parallel_for(0, workers, [&](int i) {
      in_vain += holds_lock ? 1 : 0;
      if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that who waits has looked
    });
    loop_is_over = true;
    g.wait();
  });
  std::printf("%d\n", in_vain.load());
  return 0;
}

void use_scheduler(int workers) {
  filch::scheduler pool({.workers = workers});
  pool.run([] { program().run(); });
}

int run_forking(int workers) {
  use_scheduler(workers);
  const pid_t child = fork();
  if (child == 0) {
    use_scheduler(1);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::printf("child %d\n", status);
  use_scheduler(workers);
  return 0;
}

int run_exiting(int workers, bool at_once) {
  filch::scheduler pool({.workers = workers});
  if (!at_once) pool.run([] { program().run(); });
  pool.run([] { std::exit(0); });
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[2]) == "locked") return run_locked(std::stoi(argv[1]));
  if (argc > 2 && std::string_view(argv[2]) == "forks") return run_forking(std::stoi(argv[1]));
  if (argc > 2 && std::string_view(argv[2]).starts_with("exits")) {
    return run_exiting(std::stoi(argv[1]), std::string_view(argv[2]) == "exits_at_once");
  }
  if (argc > 2 && std::string_view(argv[2]) == "leaves_at_once" && chdir("/") != 0) return 1;
  // More threads than processors: who takes what is another matter each time.
  filch::scheduler pool({.workers = argc > 1 ? std::stoi(argv[1]) : 0});
  for (int i = 0; i < 3; ++i) pool.run([] { program().run(); });
  filch::scheduler other({.workers = 2, .policy = "receiver"});
  other.run([] { program().run(); });
  const bool leaves = argc > 2 && std::string_view(argv[2]) == "leaves";
  return leaves && chdir("/") != 0 ? 1 : 0;
}
