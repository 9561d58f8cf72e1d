#pragma once

// Marks a function that a GPU runs too; to a compiler of the CPU alone it means nothing.
#ifdef __CUDACC__
#define GRAPHLINE_HOST_DEVICE __host__ __device__
#else
#define GRAPHLINE_HOST_DEVICE
#endif
