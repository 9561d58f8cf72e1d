#pragma once

#include <memory>

#include "framework/ranks/communicator.hpp"

namespace graphline {

/// Returns the number of ranks that this process was started with by MPI's launcher (mpirun, or
/// srun with PMIx); 1 if it was started otherwise.
int ranks_of_job();

/// Returns false on ranks other than 0 of a job of several.
bool leads_job();

/// Joins the ranks of the job. Call once, before other threads exist.
/// @throws run_error if the library `graphline_mpi` or MPI cannot be used, with the remedy
std::unique_ptr<communicator> join_ranks();

}  // namespace graphline
