#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <mpi.h>

#include <filch/detail/run_place.hpp>
#include <filch/places.hpp>

#include "places/carried_error.hpp"
#include "places/mpi/failure.hpp"
#include "places/mpi/launch.hpp"
#include "places/mpi/mpi_network.hpp"
#include "places/settings.hpp"
#include "scheduler/trace_file.hpp"

namespace filch::places {

namespace {

using namespace detail::places;

/// One at a time: two would use MPI from two threads.
class only_run {
 public:
  only_run() {
    // relaxed: of two, one is the first, and that is all they tell each other.
    if (!exists.exchange(true, std::memory_order_relaxed)) return;
    throw std::logic_error("filch: places::run inside of another one; call it when that has returned");
  }
  ~only_run() { exists.store(false, std::memory_order_relaxed); }
  only_run(const only_run&) = delete;
  only_run& operator=(const only_run&) = delete;

 private:
  static inline std::atomic<bool> exists{false};
};

int run_launched(const launch& by, int argc, char** argv, const options& how,
                 const std::function<int(int, char**)>& main) {
  const only_run here;
  session all(by, argc, argv);
  all.compare_policies(policy_of(how));
  if (all.places() > 1) detail::name_files_of_place(all.place());
  mpi_network to_others(all.communicator(), make_mpi_board(all));
  const exit_watch watch(all.place());
  try {
    const int result = run_place(to_others, how, [&] { return main(argc, argv); });
    to_others.finish();
    return result;
  } catch (const place_failed& e) {
    // All places throw it, and its text names the place that failed. That one says it, unless it has caught this.
    if (e.place() != all.place()) std::this_thread::sleep_for(time_for_the_line);
    const std::size_t name = ("filch: place " + std::to_string(e.place())).size();
    abort_job(e.place(), e.what() + name);
  } catch (...) {
    abort_job(all.place(), ": " + text_of_handled());
  }
}

/// Has the program begun MPI, for fewer threads than places need, as the only process? Then there is nobody to communicate with.
/// MPI that is begun without a launcher sets the variables of one itself.
bool is_begun_alone(const launch& by) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0 || by.places > 1 || by.place != 0) return false;
  int level = 0;
  int processes = 0;
  MPI_Query_thread(&level);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  return processes == 1 && level < MPI_THREAD_SERIALIZED;
}

}  // namespace

int run(int argc, char** argv, const options& how, const std::function<int(int, char**)>& main) {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (is_over != 0)
    throw std::logic_error("filch: places::run after MPI has ended, which cannot start twice; call it once");
  const auto by = find_launch();
  if (by && !is_begun_alone(*by)) return run_launched(*by, argc, argv, how, main);
  return run_alone(how, [&] { return main(argc, argv); });
}

}  // namespace filch::places
