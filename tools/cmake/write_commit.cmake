# Run at each build: writes the C++ file `out`, which defines the Git commit of `source`, if it
# changed. The commit is empty if `source` comes from an archive or there is no Git.
set(commit "")
if(EXISTS ${source}/.git)
  execute_process(
    COMMAND git describe --always --abbrev=12 --dirty=+changes --exclude *
    WORKING_DIRECTORY ${source}
    OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit ${said})
  endif()
endif()
file(CONFIGURE OUTPUT ${out} CONTENT [[#include "framework/base/version.hpp"

namespace graphline {

std::string_view commit() noexcept {
  return "@commit@";
}

}  // namespace graphline
]] @ONLY)
