#include "framework/base/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/base/machine_state.hpp"
#include "tests/base/environment_guard.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

TEST(machine, has_the_cores_that_the_affinity_names) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  EXPECT_LE(usable_cores(), CPU_COUNT(&all));
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  EXPECT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(machine, has_no_more_memory_available_than_in_all) {
  ASSERT_TRUE(available_memory());
  EXPECT_GT(*available_memory(), 0U);
  EXPECT_LE(available_memory(), total_memory());
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(cpu_split, gives_a_device_its_own_cpus_on_a_machine_with_few) {
  const auto two = split_cpus({0, 1}, 1);
  EXPECT_THAT(two.device, ElementsAre(1));
  EXPECT_THAT(two.others, ElementsAre(0));
  const auto four = split_cpus({2, 3, 6, 7}, 2);
  EXPECT_THAT(four.device, ElementsAre(6, 7));
  EXPECT_THAT(four.others, ElementsAre(2, 3));
}

TEST(cpu_split, is_left_to_the_system_where_there_are_many_or_none_to_spare) {
  for (const auto& split : {split_cpus({}, 1), split_cpus({5}, 1), split_cpus({0, 1}, 2),
                            split_cpus({0, 1}, 9), split_cpus({0, 1, 2, 3, 4}, 1)}) {
    EXPECT_THAT(split.device, IsEmpty());
    EXPECT_THAT(split.others, IsEmpty());
  }
}

TEST(scoped_cpu_affinity, holds_for_a_thread_and_those_it_makes_and_ends) {
  const auto before = usable_cpus();
  if (before.size() < 2) GTEST_SKIP() << "the program may use one CPU only, or a part of several";
  {
    const scoped_cpu_affinity kept({before.back()});
    EXPECT_THAT(usable_cpus(), ElementsAre(before.back()));
    EXPECT_EQ(::sched_getcpu(), before.back());
    std::thread([&] { EXPECT_THAT(usable_cpus(), ElementsAre(before.back())); }).join();
  }
  EXPECT_EQ(usable_cpus(), before);
  const scoped_cpu_affinity nothing({});
  EXPECT_EQ(usable_cpus(), before);
}

TEST(cache_folder, is_the_first_that_the_environment_names) {
  const environment_guard home("HOME", "/home/someone");
  const environment_guard none("XDG_CACHE_HOME", std::nullopt);
  const environment_guard no_override("GRAPHLINE_CACHE", std::nullopt);
  EXPECT_EQ(cache_folder(), "/home/someone/.cache/graphline");
  const environment_guard shared("XDG_CACHE_HOME", "/var/cache");
  EXPECT_EQ(cache_folder(), "/var/cache/graphline");
  const environment_guard own("GRAPHLINE_CACHE", "/tmp/plans");
  EXPECT_EQ(cache_folder(), "/tmp/plans");
}

TEST(cache_folder, is_nowhere_without_a_home) {
  const environment_guard home("HOME", std::nullopt);
  const environment_guard none("XDG_CACHE_HOME", std::nullopt);
  const environment_guard no_override("GRAPHLINE_CACHE", std::nullopt);
  EXPECT_TRUE(cache_folder().empty());
}

constexpr std::uint64_t mebibyte = 1 << 20;

using file = std::pair<const char*, const char*>;

TEST(cgroup_limits, are_the_least_of_the_groups_of_this_process_and_those_above) {
  const struct {
    const char* group;
    std::vector<file> files;  ///< below sys/fs/cgroup
    std::optional<std::uint64_t> memory;
    std::optional<std::uint64_t> left;
    std::optional<double> cpus;
  } machines[] = {
      {"nonsense", {{"memory.max", "\n"}, {"cpu.max", "150000\n"}}, {}, {}, {}},
      {"0::/a", {{"a/memory.max", "max\n"}, {"a/cpu.max", "max 100000\n"}}, {}, {}, {}},
      {"0::/a", {{"beside/memory.max", "1048576\n"}}, {}, {}, {}},
      {"0::/",
       {{"memory.max", "1073741824\n"},
        {"memory.current", "734003200\n"},
        {"memory.stat", "anon 1\ninactive_file 104857600\nactive_file 7\n"},
        {"cpu.max", "150000 100000\n"}},
       1073741824,
       424 * mebibyte,
       1.5},
      {"0::/pod/task",
       {{"pod/memory.max", "2097152\n"},
        {"pod/memory.current", "2096128\n"},
        {"pod/cpu.max", "50000 100000\n"},
        {"pod/task/memory.max", "1048576\n"},
        {"pod/task/memory.current", "1024\n"},
        {"pod/task/cpu.max", "max 100000\n"}},
       mebibyte,
       1024,
       0.5},
      // Its own group lies outside of what a container sees; more is used than the limit.
      {"0::/../elsewhere",
       {{"memory.max", "1048576\n"}, {"memory.current", "1052672\n"}},
       mebibyte,
       0,
       {}}};
  for (const auto& machine : machines) {
    const temporary_folder root;
    root.write("proc/self/cgroup", machine.group);
    for (const auto& [name, text] : machine.files) {
      root.write(std::string("sys/fs/cgroup/") + name, text);
    }
    const cgroup_limits limits = read_cgroup_limits(root.path());
    EXPECT_EQ(limits.memory_bytes, machine.memory) << machine.group;
    EXPECT_EQ(limits.memory_bytes_left, machine.left) << machine.group;
    EXPECT_EQ(limits.cpus, machine.cpus) << machine.group;
  }
}

// Files of a container with 200 MB and half a core: systemd's mounts, Docker's group.
constexpr const char* version_1_mounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 /docker/1234 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 /docker/1234 /sys/fs/cgroup/memory rw shared:9 master:3 - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(cgroup_limits, of_version_1_are_those_of_the_mounted_groups) {
  const struct {
    const char* groups;
    const char* mounts;
    std::vector<file> files;  ///< below sys/fs/cgroup
    std::optional<std::uint64_t> memory;
    std::optional<std::uint64_t> left;
    std::optional<double> cpus;
  } machines[] = {
      // The container's groups are the mounts' tops.
      {"11:cpu,cpuacct:/docker/1234\n4:memory:/docker/1234\n0::/docker/1234\n",
       version_1_mounts,
       {{"memory/memory.limit_in_bytes", "209715200\n"},
        {"memory/memory.usage_in_bytes", "104857600\n"},
        {"memory/memory.stat", "cache 9\ninactive_file 1\ntotal_inactive_file 52428800\n"},
        {"cpu,cpuacct/cpu.cfs_quota_us", "50000\n"},
        {"cpu,cpuacct/cpu.cfs_period_us", "100000\n"}},
       200 * mebibyte,
       150 * mebibyte,
       0.5},
      // Groups within it; the least counts.
      {"11:cpu,cpuacct:/docker/1234/job\n4:memory:/docker/1234/job/step\n",
       version_1_mounts,
       {{"memory/memory.limit_in_bytes", "209715200\n"},
        {"memory/job/memory.limit_in_bytes", "104857600\n"},
        {"memory/job/step/memory.limit_in_bytes", "9223372036854771712\n"},
        {"memory/job/step/memory.usage_in_bytes", "1048576\n"},
        {"memory/job/step/memory.stat", "hierarchical_memory_limit 52428800\n"},
        {"cpu,cpuacct/cpu.cfs_quota_us", "200000\n"},
        {"cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
        {"cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n"},
        {"cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"}},
       50 * mebibyte,
       49 * mebibyte,
       2},
      // No limits, in the way of version 1.
      {"4:memory:/\n1:cpu:/\n",
       "",
       {{"memory/memory.limit_in_bytes", "9223372036854771712\n"},
        {"memory/memory.stat", "hierarchical_memory_limit 9223372036854771712\n"},
        {"cpu/cpu.cfs_quota_us", "-1\n"},
        {"cpu/cpu.cfs_period_us", "100000\n"}},
       {},
       {},
       {}},
      // Without mountinfo in the usual places; a group that is not below the mount is its top.
      {"2:memory:/a\n",
       "",
       {{"memory/a/memory.limit_in_bytes", "1048576"}},
       mebibyte,
       mebibyte,
       {}},
      {"4:memory:/docker/other\n",
       version_1_mounts,
       {{"memory/memory.limit_in_bytes", "2097152"}},
       2 * mebibyte,
       2 * mebibyte,
       {}},
      // Version 2 beside it, where its mount is.
      {"4:memory:/docker/1234\n0::/a\n",
       version_1_mounts,
       {{"unified/a/memory.max", "1048576"}},
       mebibyte,
       mebibyte,
       {}},
  };
  for (const auto& machine : machines) {
    const temporary_folder root;
    root.write("proc/self/cgroup", machine.groups);
    root.write("proc/self/mountinfo", machine.mounts);
    for (const auto& [name, text] : machine.files) {
      root.write(std::string("sys/fs/cgroup/") + name, text);
    }
    const cgroup_limits limits = read_cgroup_limits(root.path());
    EXPECT_EQ(limits.memory_bytes, machine.memory) << machine.groups;
    EXPECT_EQ(limits.memory_bytes_left, machine.left) << machine.groups;
    EXPECT_EQ(limits.cpus, machine.cpus) << machine.groups;
  }
}

TEST(cgroup_throttling, is_that_of_all_groups_of_either_version) {
  const temporary_folder root;
  EXPECT_FALSE(read_cgroup_throttling(root.path()));
  root.write("proc/self/cgroup", "11:cpu,cpuacct:/docker/1234/job\n0::/a\n");
  root.write("proc/self/mountinfo", version_1_mounts);
  root.write("sys/fs/cgroup/unified/a/cpu.stat", "usage_usec 77\nnr_throttled 2\nthrottled_usec 5");
  EXPECT_EQ(read_cgroup_throttling(root.path()), 5'000);
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 9\nthrottled_time 200\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.stat", "nr_periods 9\nthrottled_time 30\n");
  EXPECT_EQ(read_cgroup_throttling(root.path()), 5'230);
}

TEST(machine, has_the_memory_that_is_known_and_none_where_nothing_is) {
  const temporary_folder root;
  EXPECT_EQ(total_memory(root.path()), std::nullopt);
  EXPECT_EQ(available_memory(root.path()), std::nullopt);
  root.write("proc/meminfo", "MemTotal:  2048 kB\nMemFree: 7 kB\nMemAvailable:   1024 kB\n");
  EXPECT_EQ(total_memory(root.path()), 2 * mebibyte);
  EXPECT_EQ(available_memory(root.path()), mebibyte);
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/memory.max", "1048576");
  root.write("sys/fs/cgroup/memory.current", "524288");
  EXPECT_EQ(total_memory(root.path()), mebibyte);
  EXPECT_EQ(available_memory(root.path()), mebibyte / 2);
  root.write("proc/meminfo", "");
  EXPECT_EQ(total_memory(root.path()), mebibyte);
}

using ::testing::DoubleEq;
using ::testing::Optional;

constexpr nanoseconds tick = 10'000'000;  // of 100 a second

// A file of Linux 6.1 with three cores; columns: user nice system idle iowait irq softirq steal
// guest guest_nice. `user` includes guest time.
constexpr const char* proc_stat =
    "cpu  660 66 60 3000 150 9 12 600 99 0\n"
    "cpu0 100 20 10 1000 50 3 4 100 33 0\n"
    "cpu1 300 40 20 1000 50 3 4 200 33 0\n"
    "cpu10 260 6 30 1000 50 3 4 300 33 0\n"
    "intr 12345 0 0\n"
    "ctxt 67890\n"
    "softirq 1 2 3\n";

TEST(core_times, are_the_sums_of_the_cores_asked_for) {
  const auto one = parse_core_times(proc_stat, {0}, 100);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->busy, (100 + 20 + 10 + 3 + 4) * tick);
  EXPECT_EQ(one->steal, 100 * tick);
  const auto two = parse_core_times(proc_stat, {10, 0}, 100);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->busy, (100 + 20 + 10 + 3 + 4 + 260 + 6 + 30 + 3 + 4) * tick);
  EXPECT_EQ(two->steal, 400 * tick);
}

TEST(core_times, go_by_the_ticks_of_the_system) {
  EXPECT_EQ(parse_core_times(proc_stat, {1}, 1000)->steal, 200'000'000);
}

TEST(core_times, are_not_known_of_a_core_that_is_not_listed) {
  EXPECT_FALSE(parse_core_times(proc_stat, {0, 2}, 100));
  EXPECT_FALSE(parse_core_times(proc_stat, {}, 100));
  EXPECT_FALSE(parse_core_times("", {0}, 100));
}

TEST(core_times, count_columns_that_an_old_kernel_does_not_have_as_nothing) {
  const auto found = parse_core_times("cpu0 1 2 3 4\n", {0}, 100);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->busy, 6 * tick);
  EXPECT_EQ(found->steal, 0);
}

TEST(load, is_the_average_of_the_last_minute) {
  EXPECT_THAT(parse_load_average("3.30 1.99 1.06 7/111 22618\n"), Optional(DoubleEq(3.30)));
  EXPECT_FALSE(parse_load_average(""));
  EXPECT_FALSE(parse_load_average("unknown"));
}

TEST(clock, is_stated_in_megahertz) {
  EXPECT_THAT(parse_cpu_clock("2445404\n"), Optional(DoubleEq(2445.404)));
  EXPECT_FALSE(parse_cpu_clock("<unknown>\n"));
  EXPECT_FALSE(parse_cpu_clock("0\n"));
}

TEST(machine_state, has_the_process_s_own_time_grow_with_its_work) {
  const auto before = read_machine_state();
  const nanoseconds until = before.own + 20'000'000;
  while (processor_time() < until) {
  }
  const auto after = read_machine_state();
  EXPECT_GE(after.own, until);
  EXPECT_GE(after.at - before.at, 20'000'000 / std::max(1, before.cores));
  EXPECT_GE(after.cores, 1);
}

}  // namespace
}  // namespace graphline
