// One way of running a workload that the command line measures: a runtime and its settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <filch/loop.hpp>
#include <filch/scheduler.hpp>

#include "workload.hpp"

namespace filch::cli {

/// Largest number of workers the command line accepts.
inline constexpr int most_workers = 1024;

struct configuration {
  bench::runner runner = bench::runner::serial;
  int workers = 1;          ///< filch only: 0 means what the environment or the machine gives
  std::string policy{};     ///< filch only; empty: what the environment or the library gives
  std::string join{};       ///< filch only; empty: the default of the policy
  std::string loop{};       ///< filch only; empty: what the environment gives, or the default of the policy
  bool steal_half = false;  ///< filch only
  bool push_half = false;   ///< filch only
  std::string pinning{};    ///< filch only; empty: what the environment or the library gives
  // filch only; none: what the environment or the library gives; filled in: the policy has no use for it
  std::optional<std::int64_t> deal_interval_ns{};
  std::optional<std::int64_t> level_attempts{};
  std::optional<std::int64_t> spin_ns{};
  std::optional<std::int64_t> interrupt_after_ns{};
  std::optional<std::int64_t> interrupt_every_ns{};

  bool operator==(const configuration&) const = default;
};

/// Of the scheduler that a configuration of filch wants.
options options_of(const configuration& config);

/// Fills in what was left open, as the scheduler has it that was made of the configuration; all but the workers.
void fill_in(configuration& config, const scheduler& made);

/// "serial", "filch", "tbb", "tbb-simple", "tbb-static", "tbb-affinity", "openmp", "openmp-static", "openmp-dynamic",
/// "mpi" or "analysed".
std::string_view runner_name(bench::runner runner);

/// For messages: "filch/lace/leapfrog/auto with 2 workers", "serial".
std::string describe(const configuration& config);

/// The filch settings that were asked for; what is absent is left to the environment and the library.
struct filch_settings {
  std::optional<std::string> policies{};  ///< comma separated
  std::optional<std::string> joins{};     ///< comma separated
  std::optional<std::string> loops{};     ///< comma separated
  std::optional<std::string> workers{};   ///< comma separated
  bool steal_half = false;
  bool push_half = false;
  std::optional<std::string> pinning{};
  // For those of the policies that they mean something to; times in nanoseconds.
  std::optional<std::string> delta{};
  std::optional<std::string> level_attempts{};
  std::optional<std::string> spin{};
  std::optional<std::string> interrupt_after{};
  std::optional<std::string> interrupt_every{};
  int most = most_workers;  ///< largest number of workers that is accepted
};

// Members of filch::options that not all policies go with.
inline constexpr std::string_view deal_interval = "deal_interval_ns";
inline constexpr std::string_view level_attempts = "level_attempts";
inline constexpr std::string_view interrupt_after = "interrupt_after_ns";
inline constexpr std::string_view interrupt_every = "interrupt_every_ns";

/// Whether that option means something to the policy; to one that was left open it may.
bool may_use(std::string_view option, std::string_view policy);

/// Every combination of the given policies, joins, loops and worker counts. Throws std::invalid_argument for unknown
/// names, and for a join or a loop that does not go with every policy (see filch::combinations).
std::vector<configuration> filch_configurations(const filch_settings& settings);

/// The worker counts in a comma separated list; {0} when there is none. Throws std::invalid_argument.
std::vector<int> worker_counts(const std::optional<std::string>& text, int most = most_workers);

/// The runners in a comma separated list of the names above, without "filch". Throws std::invalid_argument.
std::vector<bench::runner> peer_runners(std::string_view text);

}  // namespace filch::cli
