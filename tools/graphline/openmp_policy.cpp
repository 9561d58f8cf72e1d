#include <cstdlib>

// Idle OpenMP threads of the `host` device sleep instead of spinning on the cores that CPU stages
// need, unless the user has set a policy. libgomp reads its policy when it is loaded, so it is set
// before any shared library is initialized: from an entry of .preinit_array. Where a C library
// ignores these, idle threads spin; results are right all the same.

namespace graphline {
namespace {

void make_openmp_passive(int /*argc*/, char** /*argv*/, char** /*environment*/) {
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", /*replace=*/0);
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)(int, char**, char**) = make_openmp_passive;

}  // namespace
}  // namespace graphline
