#include "framework/base/cache_folder.hpp"

#include <gtest/gtest.h>

#include "tests/base/environment_guard.hpp"

namespace graphline {
namespace {

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

}  // namespace
}  // namespace graphline
