#include <set>

#include <gtest/gtest.h>
#include <sched.h>

#include <filch/topology.hpp>

namespace filch {
namespace {

TEST(topology, lists_each_usable_hardware_thread_once) {
  const topology found = discover_topology();
  ASSERT_EQ(static_cast<int>(found.cpus.size()), found.usable_cpus);
  std::set<int> cpus;
  for (const auto& cpu : found.cpus) EXPECT_TRUE(cpus.insert(cpu.cpu).second);
  EXPECT_GE(found.usable_workers, 1);
  EXPECT_LE(found.usable_workers, found.usable_cpus);
  EXPECT_FALSE(found.model.empty());
  EXPECT_TRUE(found.source == "hwloc" || found.source == "sysfs");
}

TEST(topology, obeys_the_affinity_mask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int first = discover_topology().cpus.front().cpu;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const topology found = discover_topology();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(found.usable_cpus, 1);
  EXPECT_EQ(found.usable_workers, 1);
  ASSERT_EQ(found.cpus.size(), 1U);
  EXPECT_EQ(found.cpus.front().cpu, first);
}

}  // namespace
}  // namespace filch
