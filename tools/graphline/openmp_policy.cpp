#include "tools/graphline/openmp_policy.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace graphline {

void make_openmp_passive(char** command_line) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
  std::error_code unknown;
  // By its path, so that the process keeps its name.
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  ::execv(program.c_str(), command_line);
  // Where that is not possible (no /proc), idle threads spin; results are right all the same.
}

}  // namespace graphline
