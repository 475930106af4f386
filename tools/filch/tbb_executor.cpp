// oneTBB as a peer. Nothing of it is started before the first run, so that measuring filch alone stays small.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "executor.hpp"

namespace filch::cli {

namespace {

class tbb_executor final : public executor {
 public:
  tbb_executor(bench::runner runner, int workers) : executor({.runner = runner, .workers = workers}), arena_(workers) {}

  double run(bench::instance& instance) override {
    // The lowest of all living limits holds, so a limit lives no longer than the run that it is meant for.
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(config_.workers));
    return arena_.execute([&] { return time_run(instance, config_.runner); });
  }
  void settle() const override { sleep_until_quiet(); }

 private:
  oneapi::tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<executor> make_tbb_executor(bench::runner runner, int workers) {
  return std::make_unique<tbb_executor>(runner, workers);
}

}  // namespace filch::cli
