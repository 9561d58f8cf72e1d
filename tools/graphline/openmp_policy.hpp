#pragma once

namespace graphline {

/// Makes idle OpenMP threads of the `host` device sleep instead of spinning on the cores that CPU
/// stages need. libgomp reads its policy when it is loaded, so the program starts itself again with
/// OMP_WAIT_POLICY=PASSIVE, once, unless a policy is set. Call before anything is read, opened or
/// printed: a pipeline may come from a pipe.
void make_openmp_passive(char** command_line);

}  // namespace graphline
