#pragma once

#include <stddef.h>

// What the library `graphline_mpi` offers to the program, which loads it when it was started by
// MPI. The program itself does not depend on MPI.

#ifdef __cplusplus
extern "C" {
#endif

#define GRAPHLINE_MPI_VERSION 2

struct graphline_mpi_place {
  int rank;
  int size;
  int local_rank; /* among the ranks of the same machine */
  int local_size;
  char library[256]; /* "Open MPI v4.1.4" */
};

/* Functions return 0, or an error of MPI, of which `error_text` writes a description. They must not
   run at the same time. */
struct graphline_mpi_functions {
  int version; /* GRAPHLINE_MPI_VERSION */
  int (*begin)(struct graphline_mpi_place* place);
  int (*send)(int to, int kind, const void* data, int bytes);
  /* Sets `from` to -1 if no message has arrived. */
  int (*probe)(int* from, int* kind, int* bytes);
  int (*receive)(int from, int kind, void* data, int bytes);
  /* Start to send or receive the bytes of a tensor; `done` tells when `request` is done. */
  int (*start_send)(int to, int channel, const void* data, int bytes, void** request);
  int (*start_receive)(int from, int channel, void* data, int bytes, void** request);
  int (*test)(void** request, int* done);
  int (*cancel)(void** request);
  int (*end)(void);
  void (*abort)(int status); /* ends all ranks */
  void (*error_text)(int error, char* text, size_t bytes);
};

/* The one symbol of the library: a function of this type, named "graphline_mpi". */
typedef const struct graphline_mpi_functions* graphline_mpi_entry(void);

#ifdef __cplusplus
}
#endif
