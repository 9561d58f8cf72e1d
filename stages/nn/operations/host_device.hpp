#pragma once

// Marks functions that also run on a GPU; empty for host compilers.
#ifdef __CUDACC__
#define GRAPHLINE_HOST_DEVICE __host__ __device__
#else
#define GRAPHLINE_HOST_DEVICE
#endif
