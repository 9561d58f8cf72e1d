#include "framework/base/machine.hpp"

#include <gtest/gtest.h>

#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

/// The files of a made-up machine.
class made_up_machine : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) { folder_.write(path, text); }

  /// `group`: of this process; `mounted`: the one that /sys/fs/cgroup shows.
  void version_2(const std::string& group, const std::string& mounted = "/") {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
          "31 22 0:28 " +
              mounted + " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  void version_1(const std::string& group, const std::string& mounted) {
    write("proc/self/cgroup", "5:cpu,cpuacct:" + group + "\n6:memory:" + group + "\n0::/\n");
    write("proc/self/mountinfo",
          "32 31 0:28 " + mounted +
              " /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n" + "35 31 0:32 " +
              mounted + " /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  }

  cgroup_limits limits() const { return read_cgroup_limits(folder_.path()); }

 private:
  temporary_folder folder_;
};

TEST_F(made_up_machine, limits_nothing_without_groups) {
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
  EXPECT_EQ(limits().memory_bytes_left, std::nullopt);
  EXPECT_EQ(limits().cpus, std::nullopt);
}

TEST_F(made_up_machine, limits_nothing_where_groups_have_no_limit) {
  version_2("/user.slice");
  write("sys/fs/cgroup/user.slice/memory.max", "max\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
  EXPECT_EQ(limits().cpus, std::nullopt);
  version_1("/", "/");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
  EXPECT_EQ(limits().cpus, std::nullopt);
}

TEST_F(made_up_machine, has_the_limits_of_a_container_of_version_2) {
  version_2("/");
  write("sys/fs/cgroup/memory.max", "1073741824\n");
  write("sys/fs/cgroup/memory.current", "734003200\n");
  write("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 104857600\nactive_file 7\n");
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(limits().memory_bytes, 1024 * mebibyte);
  EXPECT_EQ(limits().memory_bytes_left, 424 * mebibyte);
  EXPECT_EQ(limits().cpus, 1.5);
}

TEST_F(made_up_machine, has_the_least_limit_of_nested_groups) {
  version_2("/pod/task");
  write("sys/fs/cgroup/pod/memory.max", "2097152\n");
  write("sys/fs/cgroup/pod/memory.current", "2096128\n");
  write("sys/fs/cgroup/pod/cpu.max", "50000 100000\n");
  write("sys/fs/cgroup/pod/task/memory.max", "1048576\n");
  write("sys/fs/cgroup/pod/task/memory.current", "1024\n");
  write("sys/fs/cgroup/pod/task/cpu.max", "max 100000\n");
  EXPECT_EQ(limits().memory_bytes, mebibyte);
  EXPECT_EQ(limits().memory_bytes_left, 1024);
  EXPECT_EQ(limits().cpus, 0.5);
}

TEST_F(made_up_machine, does_not_look_at_groups_beside_its_own) {
  version_2("/task");
  write("sys/fs/cgroup/tasks/memory.max", "1048576\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

TEST_F(made_up_machine, has_the_limits_of_a_container_of_version_1) {
  version_1("/docker/4f1", "/docker/4f1");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "734003200\n");
  write("sys/fs/cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 104857600\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limits().memory_bytes, 1024 * mebibyte);
  EXPECT_EQ(limits().memory_bytes_left, 424 * mebibyte);
  EXPECT_EQ(limits().cpus, 2.5);
}

TEST_F(made_up_machine, takes_the_mounted_group_where_its_own_lies_outside) {
  version_1("/docker/4f1", "/other");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(limits().memory_bytes, mebibyte);
  version_2("/../elsewhere");
  write("sys/fs/cgroup/memory.max", "2097152\n");
  EXPECT_EQ(limits().memory_bytes, 2 * mebibyte);
}

TEST_F(made_up_machine, leaves_nothing_where_more_is_used_than_the_limit) {
  version_2("/");
  write("sys/fs/cgroup/memory.max", "1048576\n");
  write("sys/fs/cgroup/memory.current", "1052672\n");
  EXPECT_EQ(limits().memory_bytes_left, 0);
}

TEST_F(made_up_machine, passes_over_files_that_hold_something_else) {
  version_2("/");
  write("sys/fs/cgroup/memory.max", "\n");
  write("sys/fs/cgroup/cpu.max", "150000\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
  EXPECT_EQ(limits().cpus, std::nullopt);
  write("proc/self/cgroup", "nonsense\n");
  write("proc/self/mountinfo", "31 22 0:28 / - cgroup2\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

}  // namespace
}  // namespace graphline
