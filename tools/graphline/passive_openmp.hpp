#pragma once

namespace graphline {

/// Makes idle OpenMP threads of the `host` device sleep instead of spinning on the cores that CPU
/// stages need. libgomp reads its policy when it is loaded, so the program starts itself again with
/// OMP_WAIT_POLICY=PASSIVE, once, unless the user has set a policy or there is one compute thread
/// only. Call before anything is opened or printed.
void make_openmp_passive(int compute_threads);

/// Keeps the command line for that. Call first in main.
void remember_command_line(char** argv);

}  // namespace graphline
