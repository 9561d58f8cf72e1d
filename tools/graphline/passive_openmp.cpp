#include "tools/graphline/passive_openmp.hpp"

#include <unistd.h>

#include <cstdlib>

namespace graphline {
namespace {

char** command_line = nullptr;

}  // namespace

void remember_command_line(char** argv) {
  command_line = argv;
}

void make_openmp_passive(int compute_threads) {
  if (compute_threads < 2 || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
  ::execv("/proc/self/exe", command_line);
  // Where that is not possible (no /proc), idle threads spin; results are right all the same.
}

}  // namespace graphline
