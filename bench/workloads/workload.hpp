// What a benchmark workload is to the programs that run it (the command line, the tests).
//
// A workload is a named problem with sizes; an instance is that problem at one size. Every instance runs one and the
// same kernel on any of the runners: a kernel is a template over a peer (bench/peers/), and the serial runner is its
// serial elision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "task_farm.hpp"
#include "work_map.hpp"

namespace filch::bench {

/// On what a kernel runs. `serial` is the same source with its forks replaced by plain calls. oneTBB's four ways of
/// splitting loops (auto, simple, static, affinity) count as runners of their own; without loops they are one and the
/// same. `openmp` has tasks; `openmp_static` and `openmp_dynamic` have worksharing loops, and run everything else
/// serially. `mpi` has processes, a master and its workers, for workloads of places (instance::run_on). `analysed` runs
/// serially on the virtual machine and measures the computation itself (bench/vm/analysing_peer.hpp).
enum class runner {
  serial,
  filch,
  tbb,
  tbb_simple,
  tbb_static,
  tbb_affinity,
  openmp,
  openmp_static,
  openmp_dynamic,
  mpi,
  analysed
};

/// One workload at one size. Not thread-safe: one run at a time.
class instance {
 public:
  virtual ~instance() = default;

  /// Untimed, before every run: refills the input and clears the result.
  virtual void prepare() {}

  /// Untimed, before every run, but inside of the runner as `run` is: what its tasks do themselves before it counts,
  /// such as placing the data by touching it first, or iterations that warm the caches.
  virtual void begin(runner /*on*/) {}

  /// Timed. The caller has already entered the runner: `scheduler.run`, `task_arena.execute`, or an OpenMP
  /// `parallel` with `single` inside. For OpenMP's worksharing loops it has set the number of threads instead.
  virtual void run(runner on) = 0;

  /// Workloads with `has_farm` only, in place of run: timed; each process has an instance of its own and calls it at the
  /// same time. result() and verify() are then right at every process.
  virtual void run_on(task_farm& /*farm*/) { throw std::logic_error("this workload does not run on a task farm"); }

  /// What the last run computed, as a short text: a number or a checksum.
  virtual std::string result() const = 0;

  /// Whether the last run's result is right: against a known value, an independent check, or a serial run.
  virtual bool verify() const = 0;

  /// Tasks that one run spawns, by formula or by counting in an untimed serial pass. Each iteration of a parallel loop
  /// counts as one, however many of them the runner runs together.
  virtual std::uint64_t tasks() const = 0;

  /// From now on runs record who computes what in their last iteration. False: the workload has no such map.
  virtual bool record_map() { return false; }
  /// Of the last run.
  virtual work_map recorded_map() const { return {}; }
};

struct workload {
  std::string name;
  std::string summary;
  std::string default_size;
  std::vector<std::string> sizes;  ///< Named sizes or examples, for listings.

  /// Throws std::invalid_argument with one line that names the value, the reason and the remedy.
  std::function<std::unique_ptr<instance>(std::string_view size)> make;

  /// Default on the virtual machine, where thousands of runs are made, one after the other.
  std::string simulated_size{};

  /// Runs at places (filch/places.hpp). Each place has an instance of its own; main of every place calls `run` of it at
  /// the same time, on runner `filch`; result() and verify() are then right at every place.
  bool has_places = false;

  /// Runs on a task farm, too.
  bool has_farm = false;
};

/// All workloads, in the order of the documentation.
const std::vector<workload>& workloads();

}  // namespace filch::bench
