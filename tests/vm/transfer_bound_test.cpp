// The bound of the private-deques paper, on random computations: on average no run takes longer than it allows, for
// either algorithm; and it is sharp enough to notice workers that communicate less than they say.
#include "transfer_bound.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "random_graph.hpp"
#include "simulated_run.hpp"

namespace filch::cli {
namespace {

constexpr int seeds = 20;

vm::machine_description paper_machine() { return vm::load_machine("xeon-x7550", MACHINES_FOLDER); }

/// What the runs of one computation gave.
struct measured_runs {
  double mean_s = 0;
  statistics counted{};
};

measured_runs run(const vm::machine_description& machine, bench::graph_instance& graph, const configuration& config) {
  measured_runs runs;
  for (int seed = 1; seed <= seeds; ++seed) {
    const run_outcome outcome = run_simulated(machine, static_cast<std::uint64_t>(seed), config, graph);
    EXPECT_TRUE(outcome.is_right) << outcome.error.data() << outcome.result.data();
    runs.mean_s += outcome.seconds / seeds;
    runs.counted.transfer_attempts += outcome.counters.transfer_attempts;
    runs.counted.transfer_wait_ns += outcome.counters.transfer_wait_ns;
  }
  return runs;
}

bench::computation analyse(const vm::machine_description& machine, bench::graph_instance& graph) {
  return run_simulated(machine, 1, {.runner = bench::runner::analysed}, graph).computation;
}

configuration with(const std::string& policy, int workers, std::optional<int> delta_ns = std::nullopt) {
  return resolved(paper_machine(),
                  {.runner = bench::runner::filch, .workers = workers, .policy = policy, .deal_interval_ns = delta_ns});
}

std::optional<double> bound_s(const bench::computation& of, const configuration& config, double delay_s) {
  return transfer_bound_s(of, config.workers, delay_s, transfer_step_s(paper_machine(), config.workers),
                          *transfer_constant(config.policy));
}

struct bound_case {
  std::string policy;
  int workers;
};

class transfer_bound : public testing::TestWithParam<bound_case> {};

TEST_P(transfer_bound, is_above_the_mean_time_of_random_computations) {
  const auto& [policy, workers] = GetParam();
  const vm::machine_description machine = paper_machine();
  const configuration config = with(policy, workers);
  for (std::uint64_t number = 1; number <= 6; ++number) {
    bench::graph_random random(number);
    bench::graph_instance graph(bench::make_random_graph(200 * number, 40'000, random));
    const bench::computation of = analyse(machine, graph);
    const measured_runs runs = run(machine, graph, config);
    const std::optional<double> delay_s = transfer_delay_s(runs.counted);
    ASSERT_TRUE(delay_s);
    const std::optional<double> bound = bound_s(of, config, *delay_s);
    ASSERT_TRUE(bound) << "a delay of " << *delay_s;
    EXPECT_LE(runs.mean_s, *bound) << "graph " << number << ", T1 " << of.work_s << ", T_inf " << of.span_s << ", F "
                                   << of.branching_depth << ", delta " << *delay_s;
    // And it says something: a parallel computation is not bounded by its serial time alone.
    EXPECT_GE(runs.mean_s, of.work_s / workers);
  }
}

INSTANTIATE_TEST_SUITE_P(algorithms, transfer_bound,
                         testing::Values(bound_case{"sender", 2}, bound_case{"sender", 7}, bound_case{"sender", 30},
                                         bound_case{"receiver", 2}, bound_case{"receiver", 7},
                                         bound_case{"receiver", 30}, bound_case{"receiver_blocking", 30}),
                         [](const auto& each) { return each.param.policy + "_" + std::to_string(each.param.workers); });

// Who deals twenty times less often than it says is caught: the time is above the bound that would follow.
TEST(transfer_bound, notices_a_sender_that_deals_too_seldom) {
  constexpr int said_ns = 10'000;
  constexpr int done_ns = 20 * said_ns;
  constexpr int workers = 16;
  const vm::machine_description machine = paper_machine();
  bench::graph_instance graph(bench::make_full_tree(11, 3000));
  const bench::computation of = analyse(machine, graph);
  const double delay_s = said_ns * 1e-9;
  const configuration honest = with("sender", workers, said_ns);
  EXPECT_LE(run(machine, graph, honest).mean_s, *bound_s(of, honest, delay_s));
  const configuration lazy = with("sender", workers, done_ns);
  EXPECT_GT(run(machine, graph, lazy).mean_s, *bound_s(of, lazy, delay_s));
}

// Tasks are short beside the interval, so that owners look up in time.
TEST(transfer_delay, of_a_sender_is_its_interval) {
  constexpr int interval_ns = 30'000;
  const vm::machine_description machine = paper_machine();
  bench::graph_instance graph(bench::make_full_tree(14, 4000));
  const double delay_s = *transfer_delay_s(run(machine, graph, with("sender", 16, interval_ns)).counted);
  EXPECT_NEAR(delay_s, interval_ns * 1e-9, 0.15 * interval_ns * 1e-9);
}

// A request is answered when the task ends that its owner runs.
TEST(transfer_delay, of_a_receiver_grows_with_its_tasks) {
  const vm::machine_description machine = paper_machine();
  const configuration config = with("receiver", 8);
  bench::graph_instance fine(bench::make_full_tree(9, 2000));
  bench::graph_instance coarse(bench::make_full_tree(9, 20'000));
  const double fine_s = *transfer_delay_s(run(machine, fine, config).counted);
  const double coarse_s = *transfer_delay_s(run(machine, coarse, config).counted);
  EXPECT_GT(coarse_s, 3 * fine_s);
  EXPECT_LT(coarse_s, 20e-6);
  EXPECT_GT(fine_s, transfer_step_s(machine, 8) / 2);
}

TEST(transfer_bound, is_the_formula_of_the_paper) {
  const bench::computation of{.work_s = 1, .span_s = 0.01, .branching_depth = 5};
  // A delay of 100 steps: mu is 0.0063, so mu / (1 - exp(-mu)) is 1.003153.
  const double expected = (1 + 1.0 / 99) * (1.0 / 4 + 3.0 / 4 * 1.003153 * (0.01 + 2.68 * 1e-3 * 5));
  EXPECT_NEAR(*transfer_bound_s(of, 4, 1e-3, 1e-5, 1.0), expected, 1e-6);
  // The receiver's constant is 1.582: twice as many idle workers' chances as are taken.
  EXPECT_NEAR(*transfer_constant("receiver"), 1.582, 0.001);
  EXPECT_GT(*transfer_bound_s(of, 4, 1e-3, 1e-5, 1.582), expected);
  EXPECT_EQ(transfer_constant("lace"), std::nullopt);
}

TEST(transfer_bound, needs_a_delay_of_more_than_a_step) {
  const bench::computation of{.work_s = 1, .span_s = 0.01, .branching_depth = 5};
  EXPECT_EQ(transfer_bound_s(of, 4, 1e-6, 1e-6, 1.0), std::nullopt);
  EXPECT_EQ(transfer_delay_s({}), std::nullopt);
}

}  // namespace
}  // namespace filch::cli
