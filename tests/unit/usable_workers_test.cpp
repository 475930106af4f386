// What a machine's processors and the control group's quota make of the number of workers. A program of its own: it has
// another machine than this one in place of what asks the system.
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include <filch/topology.hpp>

#include "platform/affinity.hpp"
#include "platform/cgroup.hpp"
#include "platform/usable.hpp"

namespace filch {
namespace {

int machine_cpus = 1;
double machine_quota = 0;

/// Of the processors of two packages, each with two memory nodes of two cores.
constexpr int threads_per_core = 2;
constexpr int threads_per_node = 4;
constexpr int threads_per_package = 8;

}  // namespace

namespace platform {

const affinity_mask* affinity_mask::before_binding() noexcept {
  static affinity_mask mask;
  mask = {};
  for (int cpu = 0; cpu < machine_cpus; ++cpu) mask.words_[word_of(cpu)] |= 1UL << bit_of(cpu);
  return &mask;
}

double cgroup_quota(const std::filesystem::path& /*root*/) { return machine_quota; }

void locate(const std::vector<int>& cpus, topology& found) {
  for (const int cpu : cpus) {
    found.cpus.push_back({.package = cpu / threads_per_package,
                          .numa_node = cpu / threads_per_node,
                          .l3 = cpu / threads_per_node,
                          .core = cpu % threads_per_package / threads_per_core,
                          .cpu = cpu});
  }
}

}  // namespace platform

namespace {

topology on(int cpus, double quota) {
  machine_cpus = cpus;
  machine_quota = quota;
  topology found = discover_topology();
  EXPECT_EQ(found.usable_workers, platform::usable_workers());
  return found;
}

TEST(usable_workers, are_one_for_each_processor_without_a_quota) {
  EXPECT_EQ(on(8, 0).usable_workers, 8);
  EXPECT_EQ(on(1, 0).usable_workers, 1);
}

TEST(usable_workers, are_what_the_quota_leaves_of_them_and_a_part_of_one_counts) {
  EXPECT_EQ(on(8, 1.5).usable_workers, 2);
  EXPECT_EQ(on(8, 2).usable_workers, 2);
  EXPECT_EQ(on(8, 0.2).usable_workers, 1);
  EXPECT_EQ(on(2, 5).usable_workers, 2);
  EXPECT_DOUBLE_EQ(on(8, 1.5).quota_cpus, 1.5);
}

TEST(topology, counts_each_package_node_and_core_once) {
  const topology found = on(16, 0);
  EXPECT_EQ(found.usable_cpus, 16);
  EXPECT_EQ(found.packages, 2);
  EXPECT_EQ(found.numa_nodes, 4);
  EXPECT_EQ(found.cores, 8);
}

}  // namespace
}  // namespace filch
