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

  /// The group of this process.
  void group(const std::string& path) { write("proc/self/cgroup", "0::" + path + "\n"); }

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
  group("/user.slice");
  write("sys/fs/cgroup/user.slice/memory.max", "max\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
  EXPECT_EQ(limits().cpus, std::nullopt);
}

TEST_F(made_up_machine, has_the_limits_of_a_container) {
  group("/");
  write("sys/fs/cgroup/memory.max", "1073741824\n");
  write("sys/fs/cgroup/memory.current", "734003200\n");
  write("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 104857600\nactive_file 7\n");
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(limits().memory_bytes, 1024 * mebibyte);
  EXPECT_EQ(limits().memory_bytes_left, 424 * mebibyte);
  EXPECT_EQ(limits().cpus, 1.5);
}

TEST_F(made_up_machine, has_the_least_limit_of_nested_groups) {
  group("/pod/task");
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
  group("/task");
  write("sys/fs/cgroup/tasks/memory.max", "1048576\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

TEST_F(made_up_machine, takes_the_mounted_group_where_its_own_lies_outside) {
  group("/../elsewhere");
  write("sys/fs/cgroup/memory.max", "2097152\n");
  EXPECT_EQ(limits().memory_bytes, 2 * mebibyte);
}

TEST_F(made_up_machine, leaves_nothing_where_more_is_used_than_the_limit) {
  group("/");
  write("sys/fs/cgroup/memory.max", "1048576\n");
  write("sys/fs/cgroup/memory.current", "1052672\n");
  EXPECT_EQ(limits().memory_bytes_left, 0);
}

TEST_F(made_up_machine, passes_over_files_that_hold_something_else) {
  group("/");
  write("sys/fs/cgroup/memory.max", "\n");
  write("sys/fs/cgroup/cpu.max", "150000\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
  EXPECT_EQ(limits().cpus, std::nullopt);
  write("proc/self/cgroup", "nonsense\n");
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

}  // namespace
}  // namespace graphline
