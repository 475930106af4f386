#include "platform/cgroup.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace filch::platform {
namespace {

/// A system's file tree, made up.
class cgroup : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { static_cast<void>(folder_.write(path, text)); }

  const tests::temporary_folder folder_;
  const std::filesystem::path& root_ = folder_.location();
};

TEST_F(cgroup, no_groups_no_quota) { EXPECT_EQ(cgroup_quota(root_), 0); }

TEST_F(cgroup, version_2_quota_of_the_own_group_and_of_those_above) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_quota(root_), 1.5);
  write("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_quota(root_), 0.5);
}

TEST_F(cgroup, version_1_quota_of_the_cpu_controller) {
  write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/box\n");
  write("proc/self/mountinfo",
        "31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cgroup_quota(root_), 3);
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "50000\n");
  EXPECT_DOUBLE_EQ(cgroup_quota(root_), 6);
}

TEST_F(cgroup, a_container_that_sees_a_part_of_the_hierarchy) {
  write("proc/self/cgroup", "0::/system/container\n");
  write("proc/self/mountinfo", "30 24 0:26 /system/container /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_quota(root_), 2);
}

}  // namespace
}  // namespace filch::platform
